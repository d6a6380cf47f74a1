// The page "Explore the theory": what the papers' formulas say for numbers that the reader chooses. The first half are pure
// functions, grouped and named as the modules they are from (pipeline_lib/theory; SLAM and its perceptron) and tested
// against them; the second half draws.
"use strict";

// ================ lists: pipeline_lib/theory/entropy.py ================

const entropy = {
  // factor x log(top / x) up to its largest value, at x = top / e, and that value beyond.
  fallingLogarithm(factor, x, top) {
    const least = Math.min(x, top / Math.E);
    return least > 0 ? factor * least * Math.log(top / least) : 0;
  },

  // Corollary 8: Rad <= 10 a log(6 B / (5 a)), a = G W2 R_X sqrt(log2(3 m n) / n).
  corollary8({ n, m, lipschitz, radius, featureNorm, lossBound }) {
    const a = lipschitz * radius * featureNorm * Math.sqrt(Math.log2(3 * m * n) / n);
    return entropy.fallingLogarithm(10, a, 1.2 * lossBound);
  },

  // Corollary 11, as printed; NaN where d < 2 or 24 m n a <= 1, where it is not stated.
  corollary11({ n, m, d, lipschitz, radius, featureNorm, lossBound }) {
    const a = lipschitz * radius * featureNorm;
    if (d < 2 || 24 * m * n * a <= 1) return NaN;
    const b = Math.sqrt(Math.log(d) * Math.log2(24 * m * n * a));
    const logarithm = Math.log((lossBound + 24 * m * n * a) / (40 * Math.SQRT2 * a * b));
    return ((120 * Math.SQRT2 * a * b) / Math.sqrt(n)) * logarithm ** 2;
  },

  // Corollary 16 for empirical risks of at most 1: 4 C log(3 sqrt(B) / C), C = 5 sqrt(3) W2 R_X sqrt(H log2(3 m n) / n).
  corollary16({ n, m, smoothness, radius, featureNorm, lossBound }) {
    const C = 5 * Math.sqrt(3) * radius * featureNorm * Math.sqrt((smoothness * Math.log2(3 * m * n)) / n);
    return entropy.fallingLogarithm(4, C, 3 * Math.sqrt(lossBound));
  },
};

// ================ lists: pipeline_lib/theory/list_lengths.py ================

const listLengths = {
  RATIOS: [2, 3, 4, 6, 8, 12, 16, 24, 32, 64],

  // 2 Rad + spread sqrt(log(1/delta) / (2n)).
  deviation: (average, { n, lossBound, delta }) => 2 * average + lossBound * Math.sqrt(Math.log(1 / delta) / (2 * n)),

  // (a + e^a (e^a - 1)) / sqrt(n), the Rademacher average of ListNet for lists of every length; a > 350 is infinite.
  ofListnet: (n, a) => (a > 350 ? Infinity : a + Math.exp(a) * Math.expm1(a)) / Math.sqrt(n),

  // A ( q^(-J/2) + sum_j (q^(-j/2) + q^(-(j-1)/2)) sqrt(2 (q^j + q^(j-1)) log(2 m n + 1) / n) ), the least over J and q.
  byChain({ n, m, lipschitz, radius, featureNorm }) {
    const step = Math.sqrt((2 * Math.log(2 * m * n + 1)) / n);
    let best = 1;
    for (const q of listLengths.RATIOS) {
      let [links, before] = [0, 1];
      while (before * step ** 2 < 1) {
        const now = before * q;
        const points = now + (before > 1 ? before : 0);
        links += (now ** -0.5 + before ** -0.5) * Math.sqrt(points) * step;
        best = Math.min(best, now ** -0.5 + links);
        before = now;
      }
    }
    return lipschitz * radius * featureNorm * best;
  },
};

// ================ lists: pipeline_lib/theory/list_bounds.py ================

const listBounds = {
  MOST_QUERIES: 1e15,

  // Section 4, for losses in [0, 1]: 3 G^CW W2 R_X sqrt(m/n) + sqrt(8 log(1/delta) / n), here for the loss divided by B.
  chapelleWu: (g) =>
    g.lossBound *
    (((3 * g.lipschitzL2) / g.lossBound) * g.radius * g.featureNorm * Math.sqrt(g.m / g.n) +
      Math.sqrt((8 * Math.log(1 / g.delta)) / g.n)),

  // Theorem 5: G W2 R_X sqrt(2/n).
  ogd: (g) => g.lipschitz * g.radius * g.featureNorm * Math.sqrt(2 / g.n),

  // Theorem 6, which is Theorem 8 of slam: 2 G R_X W2 (8/n + sqrt(2/n)).
  rerm: (g) => 2 * g.lipschitz * g.featureNorm * g.radius * (8 / g.n + Math.sqrt(2 / g.n)),

  // Theorem 9: 2 Rad + 3 B sqrt(log(2/delta) / (2n)), Rad by Corollary 8.
  erm: (g) => listBounds.uniform(g, entropy.corollary8(g)),

  // Theorem 12: the same, Rad by Corollary 11.
  ermL1: (g) => listBounds.uniform(g, entropy.corollary11(g)),
  uniform: (g, average) => 2 * average + 3 * g.lossBound * Math.sqrt(Math.log(2 / g.delta) / (2 * g.n)),

  // (8): 2 sqrt(2 H W2^2 L* / n) + 8 H W2^2 / n, H = R_X^2 H_phi.
  smoothOgd(g) {
    const x = (g.featureNorm ** 2 * g.smoothness * g.radius ** 2) / g.n;
    return 2 * Math.sqrt(2 * x * g.optimalRisk) + 8 * x;
  },

  // Theorem 17: the gap L - Lhat at the largest L with L <= Lhat + 45 r* + sqrt(8 r* L) + sqrt(4 r0 L) + 20 r0.
  optimistic(g) {
    const rStar = entropy.corollary16(g) ** 2;
    const r0 = (g.lossBound * (Math.log(1 / g.delta) + Math.log(Math.log(Math.max(g.n, Math.E))))) / g.n;
    const slope = Math.sqrt(8 * rStar) + Math.sqrt(4 * r0);
    const free = 45 * rStar + 20 * r0;
    return free + slope * 0.5 * (slope + Math.sqrt(slope ** 2 + 4 * (g.empiricalRisk + free)));
  },

  // docs/when-the-list-length-stops-mattering.md: without m for ListNet, and as sqrt(log m) for every loss.
  lengthFree: (g) => listLengths.deviation(listLengths.ofListnet(1, g.radius * g.featureNorm) / Math.sqrt(g.n), g),
  chain: (g) => listLengths.deviation(listLengths.byChain(g), g),

  // The smallest n <= 10^15 with left(n) < right, for a left side that crosses it once at most; null if there is none.
  firstBelow(left, right) {
    if (left(1) < right) return 1;
    let [low, high] = [1, 2];
    while (!(left(high) < right)) {
      if (high >= listBounds.MOST_QUERIES) return null;
      [low, high] = [high, Math.min(2 * high, listBounds.MOST_QUERIES)];
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (left(middle) < right) high = middle;
      else low = middle;
    }
    return high;
  },
};

// ================ slam: pipeline_lib/surrogates/slam.py ================

const slam = {
  discount: (i) => 1 / Math.log2(i + 1),
  gain: (label) => 2 ** label - 1,

  // The largest v_max of Proposition 4 over lists of at most m documents with labels 0, ..., y_max.
  vMaxSupremum(m, yMax, measure) {
    const [gain, D] = [slam.gain(yMax), slam.discount];
    if (measure === "map") return Math.max(1, m / 2);
    if (measure === "ndcg") return m >= 3 ? (gain * (1 - D(m))) / (D(m - 1) - D(m)) : 1;
    const last = Math.min(Number(measure.split("@")[1]), m);
    return last >= 2 ? gain / D(last) : 1;
  },

  // G with respect to the maximum norm of scores: twice the largest sum of the weights (6) or (9).
  lipschitz: (m, measure) => 2 * (1 - (measure === "map" ? 1 / m : slam.discount(m))),

  // The weights (6) and (9) of documents that are listed with falling labels, all of them at the end of their list.
  weights(y, measure) {
    const [m, r] = [y.length, y.filter((label) => label > 0).length];
    const falling = y.map((_, i) => i).sort((i, j) => y[j] - y[i] || i - j);
    const rank = y.map((_, i) => falling.indexOf(i) + 1);
    if (measure === "map") return y.map((label, i) => (label > 0 ? (m - r) / (r * (m - r + rank[i])) : 0));
    const Z = y.reduce((sum, label, i) => sum + slam.gain(label) * slam.discount(rank[i]), 0);
    const [least, last] = [slam.gain(Math.min(...y)), slam.discount(m)];
    return y.map((label, i) => ((slam.gain(label) - least) * (slam.discount(rank[i]) - last)) / Z);
  },
};

// ================ slam: pipeline_lib/learners/perceptron.py and papers/slam/streams.py ================

const perceptron = {
  // streams.stalled: documents 0, (e, 0) and (-e/2, 3e/5) with e = .02, stored in single precision; the last two are
  // relevant, and the largest margin of a unit vector is e / sqrt(1 + 25/4).
  STALLED: {
    X: [
      [0, 0],
      [1, 0],
      [-0.5, 0.6],
    ].map((document) => document.map((x) => Math.fround(0.02 * x))),
    y: [0, 1, 1],
    margin: 0.02 / Math.sqrt(7.25),
  },

  // Documents from the top down, equal scores in the order of the list.
  ranked: (s) => s.map((_, i) => i).sort((i, j) => s[j] - s[i] || i - j),

  // 1 - AP, or 1 - NDCG.
  rankingLoss(y, ranked, measure) {
    if (measure === "map") {
      let [relevant, total] = [0, 0];
      ranked.forEach((i, rank) => {
        if (y[i] > 0) total += ++relevant / (rank + 1);
      });
      return Math.max(1 - total / relevant, 0);
    }
    const dcg = (order) => order.reduce((sum, i, rank) => sum + slam.gain(y[i]) * slam.discount(rank + 1), 0);
    return Math.max(1 - dcg(ranked) / dcg(perceptron.ranked(y)), 0);
  },

  // (14): z = X' sum_i v_i (e_k(i) - e_i) over the active hinges, k(i) the best-scored document with a smaller label.
  subgradient({ X, y }, s, v) {
    const z = X[0].map(() => 0);
    y.forEach((label, i) => {
      const below = y.map((_, j) => j).filter((j) => y[j] < label);
      if (below.length === 0 || v[i] === 0) return;
      const k = below.reduce((best, j) => (s[j] > s[best] ? j : best));
      if (1 + s[k] - s[i] > 0) z.forEach((_, c) => (z[c] += v[i] * (X[k][c] - X[i][c])));
    });
    return z;
  },

  // Algorithm 1 on T rounds of one list: the ranking losses of all rounds.
  run(list, T, measure, eta) {
    const v = slam.weights(list.y, measure);
    const w = list.X[0].map(() => 0);
    const losses = new Float64Array(T);
    const known = new Map(); // the loss of an order, and the order depends on few scores
    for (let t = 0; t < T; t++) {
      const s = list.X.map((x) => x.reduce((sum, value, c) => sum + value * w[c], 0));
      const order = perceptron.ranked(s);
      const name = order.join();
      if (!known.has(name)) known.set(name, perceptron.rankingLoss(list.y, order, measure));
      losses[t] = known.get(name);
      if (losses[t] === 0) break; // w does not change any more, and neither does the order
      perceptron.subgradient(list, s, v).forEach((value, c) => (w[c] -= eta * value));
    }
    return losses;
  },

  // C = 4 m R_X^2 v_max, the factor of ||u||^2 in Theorem 5; its step is 1 / C.
  normFactor({ X, y }, measure) {
    const v = slam.weights(y, measure).filter((value) => value > 0);
    const largest = Math.max(...X.map((x) => x.reduce((sum, value) => sum + value * value, 0)));
    return 4 * X.length * largest * (Math.max(...v) / Math.min(...v));
  },

  // 2/eta + Delta^2, the factor that holds for every step; Delta is the largest distance of two documents
  // (docs/a-bound-free-of-the-list-length.md, Theorem 1).
  factorOfEveryStep({ X }, eta) {
    const squares = X.flatMap((x) => X.map((z) => x.reduce((sum, value, c) => sum + (value - z[c]) ** 2, 0)));
    return 2 / eta + Math.max(...squares);
  },
};

// ================ slam: pipeline_lib/theory/perceptron_bounds.py ================

const perceptronBounds = {
  // Theorem 5, (17) and (18): min over u of 2 N f(u) + C ||u||^2 after N rounds with a mistake, for a list whose first
  // document is at 0 and alone less relevant than two others. With c_i = 2 N v_i it is
  //   max over 0 <= a_i <= c_i of a_1 + a_2 - ||a_1 x_1 + a_2 x_2||^2 / (4 C),   u = (a_1 x_1 + a_2 x_2) / (2 C),
  // a quadratic of two variables: its maximum is where the gradient is 0, if that is in the box, or else on an edge.
  rightSide({ X, y }, N, C, measure) {
    const x = X.slice(1);
    const c = slam
      .weights(y, measure)
      .slice(1)
      .map((v) => 2 * N * v);
    const Q = x.map((one) => x.map((other) => one[0] * other[0] + one[1] * other[1]));
    const value = ([a, b]) => a + b - (Q[0][0] * a * a + 2 * Q[0][1] * a * b + Q[1][1] * b * b) / (4 * C);
    const onEdge = (i, fixed) => {
      const other = (2 * C - Q[0][1] * fixed) / Q[1 - i][1 - i];
      const free = Math.min(Math.max(other, 0), c[1 - i]);
      return i === 0 ? [fixed, free] : [free, fixed];
    };
    const determinant = Q[0][0] * Q[1][1] - Q[0][1] ** 2;
    const inside = [Q[1][1] - Q[0][1], Q[0][0] - Q[0][1]].map((part) => (2 * C * part) / determinant);
    const isInside = inside.every((a, i) => a >= 0 && a <= c[i]);
    const edges = [onEdge(0, 0), onEdge(0, c[0]), onEdge(1, 0), onEdge(1, c[1])];
    const a = isInside ? inside : edges.reduce((best, one) => (value(one) > value(best) ? one : best));
    const u = [0, 1].map((k) => (a[0] * x[0][k] + a[1] * x[1][k]) / (2 * C));
    return { bound: value(a), u };
  },

  // Corollary 6: C / gamma^2, for every number of rounds.
  corollary6: (list, C) => C / list.margin ** 2,
};

// ================ twolayer: pipeline_lib/theory/two_layer.py and two_layer_rademacher.py ================

const twoLayer = {
  // D(k) = c1 sqrt(V / k), the remark after Theorem 1; the paper leaves c1 open.
  vc: (V, c1) => (k) => c1 * Math.sqrt(V / k),

  // D(k) = 2 sqrt(2 log(2 S(k)) / k), at most 2, with Sauer's S(k) = sum over i <= V of (k over i).
  sauerMassart: (V) => (k) => Math.min(2, 2 * Math.sqrt((2 * (Math.LN2 + twoLayer.logBinomialSum(k, V))) / k)),

  // The logarithm of the sum of (k over i) over i <= largest.
  logBinomialSum(k, largest) {
    if (largest >= k) return k * Math.LN2;
    const logs = [0];
    for (let i = 1; i <= largest; i++) logs.push(logs[i - 1] + Math.log((k - i + 1) / i));
    const top = Math.max(...logs);
    return top + Math.log(logs.reduce((sum, one) => sum + Math.exp(one - top), 0));
  },

  // two_layer_rademacher.contracted for the hinge loss, whose slope and value at 0 are 1:
  // 2 R(linear) + (2/k) E |sum of k signs|. R(linear) <= 2 W 2 R_X / sqrt(k), as E ||sum of k signed differences|| is at
  // most sqrt(k) times the largest difference, 2 R_X.
  contractedHinge: (radius, featureNorm) => (k) =>
    (2 * 4 * radius * featureNorm) / Math.sqrt(k) + (2 / k) * twoLayer.expectedWalk(k),

  // E |sum of k signs| = 2 h (2h over h) / 4^h for k = 2h and for k = 2h - 1.
  expectedWalk(k) {
    const h = Math.floor((k + 1) / 2);
    let central = 1; // (2h over h) / 4^h
    if (h <= 32) for (let i = 1; i <= h; i++) central *= (2 * i - 1) / (2 * i);
    else {
      const stirling = -1 / (8 * h) + 1 / (192 * h ** 3) - 1 / (640 * h ** 5) + 17 / (14336 * h ** 7);
      central = Math.exp(stirling) / Math.sqrt(Math.PI * h);
    }
    return 2 * h * central;
  },

  // Theorem 1 for n queries of m documents: D(n) + D(floor(m/2)) and both terms with log(4/delta).
  bound(n, m, D, M, delta) {
    const deviation = 2 * M ** 2 * Math.log(4 / delta);
    return D(n) + Math.sqrt(deviation / n) + D(Math.floor(m / 2)) + Math.sqrt((deviation * (n / m)) / n ** 2);
  },

  // Theorem 2: D(n) + sqrt(2 M^2 log(2/delta) / n).
  queryLayer: (n, D, M, delta) => D(n) + Math.sqrt((2 * M ** 2 * Math.log(2 / delta)) / n),

  // Theorem 3: D(floor(m/2)) + sqrt(2 M^2 log(2/delta) / (m n)).
  documentLayer: (n, m, D, M, delta) => D(Math.floor(m / 2)) + Math.sqrt((2 * M ** 2 * Math.log(2 / delta)) / (m * n)),

  // Theorem 3 with the average of Definition 3 itself: D(n floor(m/2)).
  pooledDocumentLayer: (n, m, D, M, delta) =>
    D(n * Math.floor(m / 2)) + Math.sqrt((2 * M ** 2 * Math.log(2 / delta)) / (m * n)),

  // Discussion 3: n* = (c1 sqrt(V) + sqrt(2 log(4/delta))) / (c1 sqrt(2 V)) sqrt(C), within [1, C/2].
  budget(documents, V, delta, c1) {
    const falling = c1 * Math.sqrt(V) + Math.sqrt(2 * Math.log(4 / delta));
    const queries = (falling / (c1 * Math.sqrt(2 * V))) * Math.sqrt(documents);
    return Math.min(Math.max(queries, 1), documents / 2);
  },

  // Theorem 1 for D(k) = c1 sqrt(V/k), M = 1 and C documents over n queries evenly, floor(m/2) as m/2.
  evenBound(queries, documents, V, delta, c1) {
    const deviation = 2 * Math.log(4 / delta);
    return (
      c1 * Math.sqrt(V / queries) +
      Math.sqrt(deviation / queries) +
      c1 * Math.sqrt((2 * V * queries) / documents) +
      Math.sqrt(deviation / documents)
    );
  },
};

// ================ twolayer: pipeline_lib/theory/two_layer_rates.py ================

const twoLayerRates = {
  WORST_CASE: { queries: 0.25, documents: 0, pairs: 0 },
  rest: (variances) => Math.max(0, variances.pairs - 2 * variances.documents),

  // sigma^2(m) = v + 4 s1 / m + 2 (s2 - 2 s1) / (m (m - 1)).
  ofAverage: (variances, m) =>
    variances.queries + (4 * variances.documents) / m + (2 * twoLayerRates.rest(variances)) / (m * (m - 1)),

  // (1/n) sum_i sigma^2(m_i) for C documents over n queries as evenly as possible.
  mean(n, documents, variances) {
    const [small, larger] = [Math.floor(documents / n), documents % n];
    const both = [twoLayerRates.ofAverage(variances, small), twoLayerRates.ofAverage(variances, small + 1)];
    return ((n - larger) * both[0] + larger * both[1]) / n;
  },

  // sqrt(2 S log(N/delta) / n) + M log(N/delta) / (3 n) with M = 1.
  ofEvenLists(n, documents, variances, logRankers, delta) {
    const exponent = logRankers - Math.log(delta);
    return Math.sqrt((2 * twoLayerRates.mean(n, documents, variances) * exponent) / n) + exponent / (3 * n);
  },

  // The standard deviation of the gap R - R^ of one ranker with these variances: sqrt(S / n).
  deviationOfOne: (n, documents, variances) => Math.sqrt(twoLayerRates.mean(n, documents, variances) / n),

  // m* = 1 + sqrt(2 (s2 - 2 s1) / v), at least 2.
  bestDepth(variances) {
    const rest = twoLayerRates.rest(variances);
    if (rest === 0) return 2;
    return variances.queries > 0 ? Math.max(2, 1 + Math.sqrt((2 * rest) / variances.queries)) : Infinity;
  },

  // The number of queries, from 1 to C/2, at which a function of it is least; the first one of several.
  best(documents, value) {
    let [queries, least] = [1, value(1)];
    for (let n = 2; n <= Math.floor(documents / 2); n++) {
      const here = value(n);
      if (here < least) [queries, least] = [n, here];
    }
    return queries;
  },

  budget: (documents, variances, logRankers, delta) =>
    twoLayerRates.best(documents, (n) => twoLayerRates.ofEvenLists(n, documents, variances, logRankers, delta)),
};

// ================ topk: pipeline_lib/theory/partial_labels.py ================

const partialLabels = {
  // docs/feedback-on-top.md, Theorem 1: whether some learner of NDCG has regret o(T).
  learnable: (m, grades, labels) => labels >= (grades === 2 ? m - 1 : m),

  // The power of T of the least regret in NDCG.
  regretExponent(m, grades, labels) {
    if (!partialLabels.learnable(m, grades, labels)) return 1;
    return labels === m || m === 2 ? 1 / 2 : 2 / 3;
  },

  // Proposition 4: (Delta d_1 / 4) (3 d_2 / (64 d_1))^(1/3) T^(2/3), for T >= 24 d_1^2 / d_2^2; null for fewer rounds.
  nearTies(m, T) {
    const D = slam.discount;
    const [first, second] = [D(m - 2) - D(m - 1), D(m - 1) - D(m)];
    if (24 * (first / second) ** 2 > T) return null;
    let ideal = 0;
    for (let i = 1; i <= m - 2; i++) ideal += D(i);
    const eps = Math.cbrt((3 * second) / (64 * first * T));
    return ((1 / ideal - 1 / (ideal + D(m - 1))) * first * eps * T) / 4;
  },
};

// What is known of each measure and loss if k labels of m documents are seen. ``power`` is that of T in the regret, with
// ``sign`` "=" for the least power of any learner, "≤" for what some learner reaches; null where nothing is stated.
const targetsOfFeedback = [
  {
    name: "NDCG itself",
    place: "docs/feedback-on-top.md, Theorem 1",
    known: (m, k, grades) => ["=", partialLabels.regretExponent(m, grades, k)],
  },
  {
    name: "Squared loss against G(y)/Z(y), calibrated for NDCG",
    place: "Theorem 2, part 1",
    known: (m, k) => (k < m ? ["=", 1] : [null, null]),
  },
  {
    name: "Squared loss against G(y)/Z(y) less its mean over the list, calibrated for NDCG",
    place: "Theorem 2, parts 2 and 3",
    known: (m, k, grades) => (partialLabels.learnable(m, grades, k) ? ["≤", 2 / 3] : ["=", 1]),
  },
  {
    name: "Every loss that is calibrated for NDCG and has one minimiser under every law",
    place: "Theorem 2, part 3",
    known: (m, k, grades) => (partialLabels.learnable(m, grades, k) ? [null, null] : ["=", 1]),
  },
  {
    name: "Average precision, expected reciprocal rank and NDCG@2, of binary labels",
    place: "Proposition 3; too few labels: by enumeration up to six documents",
    known: (m, k, grades) => {
      if (grades > 2) return [null, null];
      if (k >= m - 1) return ["≤", 2 / 3];
      return m <= 6 ? ["=", 1] : [null, null];
    },
  },
  {
    name: "NDCG@1 of binary labels",
    place: "Lemma 1, for a function of one label",
    known: (m, k, grades) => (grades === 2 ? ["≤", 2 / 3] : [null, null]),
  },
  {
    name: "AUC of binary labels",
    place: "Theorem 3",
    known: (m, k, grades) => {
      if (grades > 2) return [null, null];
      const enough = m % 2 === 1 && m >= 3 ? m - 2 : m - 1;
      return k >= enough ? ["≤", 2 / 3] : ["=", 1];
    },
  },
  {
    name: "Squared loss against the labels, and KL; not calibrated for NDCG",
    place: "topk, Theorem 4.1",
    known: () => ["≤", 2 / 3],
  },
  {
    name: "RankSVM; not calibrated for NDCG",
    place: "topk, Theorem 4.1 with two labels",
    known: (m, k) => (k >= 2 ? ["≤", 2 / 3] : [null, null]),
  },
];

// ================ the bounds of part (a), each with what it is stated for ================

const FEATURE_NORM = 1; // R_X
const Y_MAX = 2; // labels 0, 1, 2

// The constants of ListNet on the ball: G, G^CW and H do not depend on m, and B = y_max + 2 W R_X.
function constantsOfListnet({ radius, risk }) {
  const lossBound = Y_MAX + 2 * radius * FEATURE_NORM;
  const risks = { optimalRisk: risk * lossBound, empiricalRisk: risk * lossBound };
  return { lipschitz: 2, lipschitzL2: Math.SQRT2, smoothness: 2, featureNorm: FEATURE_NORM, lossBound, ...risks };
}

const ofListnet = (formula) => (given) => formula({ ...given, ...constantsOfListnet(given) });

// Theorem 5 of slam for a comparator without loss: C ||u||^2 with ||u|| = W, for each of n rounds.
const ofPerceptron =
  (measure) =>
  ({ n, m, radius }) => {
    const k = measure.includes("@") ? Math.min(Number(measure.split("@")[1]), m) : m;
    return (4 * k * FEATURE_NORM ** 2 * slam.vMaxSupremum(m, Y_MAX, measure) * radius ** 2) / n;
  };

// Theorem 8 of slam: 2 G R_X W (8/n + sqrt(2/n)).
const ofSlam =
  (measure) =>
  ({ n, m, radius }) =>
    listBounds.rerm({ n, radius, featureNorm: FEATURE_NORM, lipschitz: slam.lipschitz(m, measure) });

const one = () => 1;
const EXPECTED = "expected excess risk of one learner";
const ALL = "gap of all rankers of the ball at once, with probability 1 − δ";
const LOSS = "mean ranking loss per round while it learns, if some u with ‖u‖ = W has no loss";
const listnetLoss = (given) => constantsOfListnet(given).lossBound;
const hingeLoss = ({ radius }) => 1 + 2 * radius * FEATURE_NORM;

const GROUPS = [
  {
    paper: "lists",
    about:
      "ListNet, labels 0 to 2, ‖w‖₂ ≤ W, documents of norm at most 1 (‖w‖₁ ≤ W and entries of at most 1 for Theorem 12).",
    bounds: [
      [
        "Chapelle and Wu, Section 4",
        `${ALL}; the loss is divided by B, as it is stated for losses in [0, 1]`,
        ofListnet(listBounds.chapelleWu),
        listnetLoss,
      ],
      ["Theorem 5", `convex losses: ${EXPECTED}, online gradient descent`, ofListnet(listBounds.ogd), listnetLoss],
      ["Theorem 6", `convex losses: ${EXPECTED}, the regularised minimiser`, ofListnet(listBounds.rerm), listnetLoss],
      ["Theorem 9, closed form of Corollary 8", ALL, ofListnet(listBounds.erm), listnetLoss],
      [
        "Theorem 12, closed form of Corollary 11",
        `${ALL}; ball of the ℓ₁ norm, d features`,
        ofListnet(listBounds.ermL1),
        listnetLoss,
      ],
      [
        "Equation (8)",
        `convex smooth losses with smallest risk L*: ${EXPECTED}, online gradient descent`,
        ofListnet(listBounds.smoothOgd),
        listnetLoss,
      ],
      [
        "Theorem 17, closed form of Corollary 16",
        `smooth losses ≥ 0 with training risk L̂: ${ALL}`,
        ofListnet(listBounds.optimistic),
        listnetLoss,
      ],
      ["Ours, free of m", `ListNet: ${ALL}`, ofListnet(listBounds.lengthFree), listnetLoss],
      ["Ours, by a chain of coverings", ALL, ofListnet(listBounds.chain), listnetLoss],
    ],
  },
  {
    paper: "slam",
    about:
      "Perceptron: n rounds. Theorem 8: n queries, ‖w‖₂ ≤ W. Labels 0 to 2, binary for MAP; documents of norm at most 1.",
    bounds: [
      ["Theorem 5, MAP", `${LOSS}; step 1/C, C = 4 m v_max`, ofPerceptron("map"), one],
      ["Theorem 5, NDCG", `${LOSS}; step 1/C, C = 4 m v_max`, ofPerceptron("ndcg"), one],
      ["Corollary 7, NDCG@10", `${LOSS}; step 1/C, C = 4 min(10, m) v_max`, ofPerceptron("ndcg@10"), one],
      ["Ours, Algorithm 1 with η = 1", `${LOSS}; (2/η + Δ²) W², Δ = 2`, ({ n, radius }) => (6 * radius ** 2) / n, one],
      [
        "Ours, misordered documents only",
        `${LOSS}; Δ² W², Δ = 2, every step`,
        ({ n, radius }) => (4 * radius ** 2) / n,
        one,
      ],
      ["Theorem 8, SLAM-MAP", `${EXPECTED}, the regularised minimiser`, ofSlam("map"), hingeLoss],
      ["Theorem 8, SLAM-NDCG", `${EXPECTED}, the regularised minimiser`, ofSlam("ndcg"), hingeLoss],
    ],
  },
  {
    paper: "twolayer",
    about:
      "Pairwise losses over n queries of m documents. V = d, as for linear rankers of d features; the 0-1 loss has M = 1.",
    bounds: [
      [
        "Theorem 1, c₁ = 1",
        "0-1 loss, D(k) = c₁ √(V/k): gap of all rankers, with probability 1 − δ; c₁ is left open by the paper",
        (g) => twoLayer.bound(g.n, g.m, twoLayer.vc(g.d, 1), 1, g.delta),
        one,
      ],
      [
        "Theorem 1, Sauer and Massart",
        "0-1 loss: gap of all rankers, with probability 1 − δ",
        (g) => twoLayer.bound(g.n, g.m, twoLayer.sauerMassart(g.d), 1, g.delta),
        one,
      ],
      [
        "Theorem 1, hinge loss",
        `${ALL}; by contraction`,
        (g) => twoLayer.bound(g.n, g.m, twoLayer.contractedHinge(g.radius, FEATURE_NORM), hingeLoss(g), g.delta),
        hingeLoss,
      ],
      [
        "Theorem 2, Sauer and Massart",
        "0-1 loss: error of the layer of queries",
        (g) => twoLayer.queryLayer(g.n, twoLayer.sauerMassart(g.d), 1, g.delta),
        one,
      ],
      [
        "Theorem 3, Sauer and Massart",
        "0-1 loss: error of the layer of documents",
        (g) => twoLayer.documentLayer(g.n, g.m, twoLayer.sauerMassart(g.d), 1, g.delta),
        one,
      ],
      [
        "Ours, layer of documents pooled",
        "0-1 loss: the same with D(n ⌊m/2⌋)",
        (g) => twoLayer.pooledDocumentLayer(g.n, g.m, twoLayer.sauerMassart(g.d), 1, g.delta),
        one,
      ],
      [
        "Ours, true rates",
        "loss in [0, 1], 2^V rankers, worst variances: gap of all of them, with probability 1 − δ",
        (g) => twoLayerRates.ofEvenLists(g.n, g.n * g.m, twoLayerRates.WORST_CASE, g.d * Math.LN2, g.delta),
        one,
      ],
    ],
  },
].map((group) => ({
  ...group,
  bounds: group.bounds.map(([name, statedFor, value, largest]) => ({ name, statedFor, value, largest })),
}));

// ================ words and elements ================

const raised = (power) =>
  String(power)
    .replace("-", "⁻")
    .replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

// A number with three significant digits; 1.23 × 10⁴ where it is large or small.
function shown(x, digits = 3) {
  if (x === null || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return "∞";
  if (x === 0) return "0";
  if (Math.abs(x) >= 1e6 || Math.abs(x) < 1e-3) {
    const [factor, power] = x.toExponential(digits - 1).split("e");
    return `${Number(factor)} × 10${raised(Number(power))}`;
  }
  return Number(x.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
}

const wholeNumber = (x) => (x === null ? "–" : x < 1e7 ? x.toLocaleString("en") : shown(x));

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const html = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// ================ controls ================

const ROUND = [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 8, 9];

// The numbers through which a slider moves: round ones on a logarithmic axis, or a hundred even steps, or whole ones.
function stops({ low, high, value, log = false, whole = false }) {
  const even = Array.from({ length: 101 }, (_, i) => Number((low + ((high - low) * i) / 100).toPrecision(6)));
  const first = Math.floor(Math.log10(low)); // only used where low > 0
  const round = () =>
    Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, i) =>
      ROUND.map((x) => Number(`${x}e${first + i}`)),
    ).flat();
  const all = log ? round() : whole ? Array.from({ length: high - low + 1 }, (_, i) => low + i) : even;
  const found = [low, value, high, ...(whole ? all.map(Math.round) : all)].filter((x) => x >= low && x <= high);
  return [...new Set(found)].sort((a, b) => a - b);
}

function slider(about, changed) {
  const { name, label, value, whole = false } = about;
  const [values, show] = [stops(about), whole ? wholeNumber : shown];
  const field = html("input", { type: "range", min: 0, max: values.length - 1, step: 1, value: values.indexOf(value) });
  const said = html("strong");
  const read = () => values[Number(field.value)];
  const tell = () => {
    said.textContent = show(read());
    field.setAttribute("aria-valuetext", show(read()));
  };
  // The nearest of the numbers through which it moves.
  const set = (text) => {
    const wanted = Number(text);
    if (text === "" || !Number.isFinite(wanted)) return;
    const away = values.map((one) => Math.abs(one - wanted));
    field.value = away.indexOf(Math.min(...away));
    tell();
  };
  field.addEventListener("input", () => (tell(), changed()));
  tell();
  return { name, read, set, shown: html("label", {}, html("span", {}, label, " ", said), field) };
}

function choice({ name, label, options, value }, changed) {
  const items = Object.entries(options).map(([key, words]) => html("option", { value: key }, words));
  const field = html("select", {}, ...items);
  field.value = value;
  const set = (key) => {
    if (key in options) field.value = key;
  };
  field.addEventListener("change", changed);
  return { name, read: () => field.value, set, shown: html("label", {}, html("span", {}, label), field) };
}

// ================ plots with two logarithmic axes ================

const FONT = 12; // pixels; also that of .explore text in report.css
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
const colour = (i) => `var(--series-${i % 7})`;
const dash = (i) => DASHES[i % DASHES.length]; // colours come again after seven, then with another dash

function decades([low, high], most) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  return Array.from({ length: last - first + 1 }, (_, i) => first + i).filter((power) => power % every === 0);
}

// Places of labels at least ``gap`` apart, in the order of what they label and as near to it as that allows.
function spread(places, gap, low, high) {
  const order = places.map((_, i) => i).sort((i, j) => places[i] - places[j]);
  const found = [...places];
  order.forEach((i, rank) => (found[i] = Math.max(found[i], rank === 0 ? low : found[order[rank - 1]] + gap)));
  [...order].reverse().forEach((i, rank) => {
    found[i] = Math.min(found[i], rank === 0 ? high : found[order[order.length - rank]] - gap);
  });
  return found;
}

// ``curves`` have points and a label at their right end; ``marks`` are points with a letter; ``at`` is the present x.
function plot({ width, height = 320, x, y, xlabel, ylabel, curves, marks = [], at = null, vacuous = null, said }) {
  const [left, right, top, bottom] = [54, 24, vacuous === null ? 14 : 30, 44];
  const along =
    ([low, high], start, length) =>
    (value) =>
      start + (length * Math.log(value / low)) / Math.log(high / low);
  const px = along(x, left, width - left - right);
  const flipped = along(y, 0, height - top - bottom);
  const py = (value) => height - bottom - flipped(value);
  const text = (words, attributes) => svg("text", attributes, words);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": said });
  if (vacuous !== null && y[1] > vacuous) {
    const [upper, lower] = [py(y[1]), py(Math.max(vacuous, y[0]))];
    const edge = width - right;
    drawn.append(
      svg("rect", { class: "vacuous", x: left, y: upper, width: edge - left, height: lower - upper }),
      svg("line", { class: "limit", x1: left, x2: edge, y1: lower, y2: lower }),
    );
  }
  for (const power of decades(x, Math.floor((width - left - right) / 48))) {
    const place = px(10 ** power);
    drawn.append(
      svg("line", { class: "tick", x1: place, x2: place, y1: height - bottom, y2: height - bottom + 4 }),
      text(`10${raised(power)}`, { x: place, y: height - bottom + 17, "text-anchor": "middle" }),
    );
  }
  for (const power of decades(y, Math.floor((height - top - bottom) / 22))) {
    const place = py(10 ** power);
    drawn.append(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: place, y2: place }),
      text(`10${raised(power)}`, { x: left - 6, y: place + 4, "text-anchor": "end" }),
    );
  }
  if (at !== null) drawn.append(svg("line", { class: "at", x1: px(at), x2: px(at), y1: top, y2: height - bottom }));
  // An inner svg cuts off what is outside of the axes.
  const [across, down] = [width - left - right, height - top - bottom];
  const inner = svg("svg", {
    x: left,
    y: top,
    width: across,
    height: down,
    viewBox: `${left} ${top} ${across} ${down}`,
  });
  drawn.append(inner);
  const ends = [];
  curves.forEach(({ points, label }, i) => {
    const finite = points.filter(([, b]) => b > 0 && Number.isFinite(b));
    if (finite.length === 0) return;
    const path = finite.map(([a, b], j) => `${j ? "L" : "M"}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join("");
    inner.append(svg("path", { class: "curve", d: path, stroke: colour(i), "stroke-dasharray": dash(i) }));
    const [a, b] = finite.findLast(([, value]) => value >= y[0] && value <= y[1]) ?? [];
    if (a === undefined) return;
    if (a === finite.at(-1)[0]) ends.push({ label, i, place: py(b) });
    else drawn.append(text(label, { x: px(a), y: py(b) - 6, "text-anchor": "middle", class: "end" }));
  });
  if (vacuous !== null) {
    const words = "shaded: vacuous, at or above the largest loss";
    drawn.append(text(words, { x: width - right, y: 12, "text-anchor": "end", class: "faint" }));
  }
  const places = spread(
    ends.map((end) => end.place),
    FONT,
    top,
    height - bottom,
  );
  ends.forEach(({ label, i }, j) => {
    drawn.append(text(label, { x: width - right + 5, y: places[j] + 4, class: "end" }));
  });
  for (const { x: a, y: b, letter } of marks) {
    if (!(b >= y[0] && b <= y[1])) continue;
    drawn.append(
      svg("circle", { cx: px(a), cy: py(b), r: 8, class: "mark" }),
      text(letter, { x: px(a), y: py(b) + 4, "text-anchor": "middle", class: "end" }),
    );
  }
  drawn.append(
    svg("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
    text(xlabel, { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }),
    text(ylabel, {
      x: 12,
      y: (top + height - bottom) / 2,
      "text-anchor": "middle",
      transform: `rotate(-90 12 ${(top + height - bottom) / 2})`,
    }),
  );
  return drawn;
}

// The exponents of regret in words, as numbers, and as parts of an element.
const POWERS = { 1: "T", [2 / 3]: "T^(2/3)", [1 / 2]: "T^(1/2)" };
const FRACTIONS = { 1: "1", [2 / 3]: "2/3", [1 / 2]: "1/2" };
const power = (exponent) => (exponent === 1 ? ["T"] : ["T", html("sup", {}, FRACTIONS[exponent])]);

// So many numbers from low to high, evenly on a logarithmic axis.
const logSpaced = (low, high, count) =>
  Array.from({ length: count }, (_, i) => low * (high / low) ** (i / (count - 1)));

// Whole powers of ten around all positive values.
function rangeOf(values, least, most) {
  const inside = values.filter((value) => value > 0 && Number.isFinite(value));
  const [low, high] = [Math.min(...inside), Math.max(...inside)];
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  return [Math.max(10 ** first, least), Math.min(10 ** Math.max(last, first + 1), most)];
}

const NARROW = 520; // pixels: below, the first cell of a row of a table has a row of its own

// A table; cells are words, elements or lists of both.
function grid(headings, rows, caption, width) {
  const cell = (words) => html("td", {}, ...[words].flat());
  const column = (words, i) => html("th", { scope: "col", ...(i === 0 ? { class: "left" } : {}) }, words);
  const narrow = width < NARROW;
  const bodies = rows.map(([first, ...others]) =>
    narrow
      ? [
          html("tr", {}, html("th", { scope: "rowgroup", class: "left", colspan: others.length }, ...[first].flat())),
          html("tr", {}, ...others.map(cell)),
        ]
      : [html("tr", {}, html("th", { scope: "row", class: "left" }, ...[first].flat()), ...others.map(cell))],
  );
  const head = html(
    "thead",
    {},
    html("tr", {}, ...headings.slice(narrow ? 1 : 0).map((words, i) => column(words, narrow ? 1 : i))),
  );
  const body = narrow ? bodies.map((both) => html("tbody", {}, ...both)) : [html("tbody", {}, ...bodies.flat())];
  const table = html("table", {}, head, ...body);
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table);
}

// The name of a curve, with its line and what is said of it in smaller print.
function key(i, label, name, about = "") {
  const line = svg("line", {
    x1: 0,
    x2: 26,
    y1: 5,
    y2: 5,
    class: "curve",
    stroke: colour(i),
    "stroke-dasharray": dash(i),
  });
  const drawn = svg("svg", { width: 26, height: 10, "aria-hidden": "true" }, line);
  const words = html("span", {}, drawn, ` ${label}  ${name}`);
  if (about) words.append(html("span", { class: "spread" }, about));
  return words;
}

// ================ (a) all bounds ================

const AXES = {
  n: { label: "queries or rounds, n", range: [1, 1e9] },
  m: { label: "documents per query, m", range: [2, 1e5] },
};
const SHOWN_RANGE = [1e-6, 1e5]; // of a bound over the largest loss

// Value, largest loss and the n from which the bound is below it, of every bound of a group.
function evaluated(group, given) {
  return group.bounds.map(({ name, statedFor, value, largest }) => {
    const limit = largest(given);
    const from = listBounds.firstBelow((n) => value({ ...given, n }), limit);
    return { name, statedFor, value: value(given), largest: limit, from };
  });
}

function drawBounds(given, width) {
  const { label, range } = AXES[given.axis];
  const along = logSpaced(...range, 90).map((x) => Math.round(x));
  return GROUPS.map((group) => {
    const now = evaluated(group, given);
    const curves = group.bounds.map(({ value, largest }, i) => ({
      label: String(i + 1),
      points: along.map((x) => {
        const there = { ...given, [given.axis]: x };
        return [x, value(there) / largest(there)];
      }),
    }));
    const values = now.map((row, i) => `${i + 1} ${row.name}: ${shown(row.value)} of ${shown(row.largest)}`);
    const said = `Bounds of ${group.paper} over the largest loss against ${label}, at n = ${wholeNumber(given.n)}, m = ${wholeNumber(given.m)}, δ = ${shown(given.delta)}, W = ${shown(given.radius)}. ${values.join("; ")}.`;
    const all = curves.flatMap((curve) => curve.points.map(([, y]) => y));
    const rows = now.map((row, i) => [
      key(i, i + 1, row.name, row.statedFor),
      shown(row.value),
      shown(row.largest),
      Number.isNaN(row.value) ? "not stated" : row.value >= row.largest ? "vacuous" : shown(row.value / row.largest),
      row.from === null ? "never" : wholeNumber(row.from),
    ]);
    const headings = ["Bound", "Value", "Largest loss B", "Value / B", "Below B from n ="];
    return html(
      "div",
      {},
      html("h4", {}, html("code", {}, group.paper)),
      html("p", { class: "source" }, group.about),
      plot({
        width,
        x: range,
        y: rangeOf([...all, 0.1, 10], ...SHOWN_RANGE),
        xlabel: label,
        ylabel: "bound / B",
        curves,
        at: given[given.axis],
        vacuous: 1,
        said,
      }),
      grid(headings, rows, `Bounds of ${group.paper}`, width),
    );
  });
}

// ================ (b) a budget ================

// Queries of each plan in whole numbers: the paper's n*, that of the bound with the true rates, and the one with the
// smallest standard deviation of the gap of one ranker.
function plans(C, variances, V, delta, c1) {
  const printed = twoLayer.budget(C, V, delta, c1);
  return {
    printed: Math.min(Math.max(Math.round(printed), 1), Math.floor(C / 2)),
    ours: twoLayerRates.budget(C, variances, V * Math.LN2, delta),
    best: twoLayerRates.best(C, (n) => twoLayerRates.deviationOfOne(n, C, variances)),
  };
}

function drawBudget({ C, v, s1, rest, V, delta, c1 }, width) {
  const variances = { queries: v, documents: s1, pairs: rest + 2 * s1 };
  const found = plans(C, variances, V, delta, c1);
  const judged = {
    "Theorem 1": (n) => twoLayer.evenBound(n, C, V, delta, c1),
    "Bound with the true rates": (n) => twoLayerRates.ofEvenLists(n, C, variances, V * Math.LN2, delta),
    "Standard deviation of the gap": (n) => twoLayerRates.deviationOfOne(n, C, variances),
  };
  const about = [
    "for all rankers, D(k) = c₁ √(V/k), 0-1 loss",
    "for 2^V rankers with these variances and losses in [0, 1]",
    "of one ranker with these variances, exact",
  ];
  const along = [...new Set(logSpaced(1, Math.floor(C / 2), 150).map((n) => Math.round(n)))];
  const curves = Object.values(judged).map((value, i) => ({
    label: String(i + 1),
    points: along.map((n) => [n, value(n)]),
  }));
  const named = [
    ["P", "the paper’s plan, n*", found.printed, 0],
    ["O", "our plan, by the true rates", found.ours, 1],
    ["B", "the best for one ranker", found.best, 2],
  ];
  const marks = named.map(([letter, , n, i]) => ({ letter, x: n, y: Object.values(judged)[i](n) }));
  const said = `Two bounds and the standard deviation of the gap against the number of queries, for ${wholeNumber(C)} documents. ${named
    .map(([, name, n]) => `${name}: ${wholeNumber(n)} queries of ${shown(C / n)} documents`)
    .join("; ")}.`;
  const rows = named.map(([letter, name, n]) => [
    `${letter}  ${name}`,
    wholeNumber(n),
    shown(C / n),
    ...Object.values(judged).map((value) => shown(value(n))),
  ]);
  const all = curves.flatMap((curve) => curve.points.map(([, y]) => y));
  const impossible = v + variances.pairs > 0.25;
  return [
    plot({
      width,
      x: [1, Math.max(Math.floor(C / 2), 10)],
      y: rangeOf(all, 1e-6, 1e4),
      xlabel: "queries, n (deep judging on the left)",
      ylabel: "bound or deviation",
      curves,
      marks,
      said,
    }),
    html(
      "ul",
      { class: "keys" },
      ...Object.keys(judged).map((name, i) => html("li", {}, key(i, i + 1, name, about[i]))),
    ),
    grid(["Plan", "Queries", "Documents each", "Curve 1", "Curve 2", "Curve 3"], rows, "Plans for the budget", width),
    html(
      "p",
      { class: "source" },
      `m* = 1 + √(2 (s₂ − 2 s₁)/v) = ${shown(twoLayerRates.bestDepth(variances))} documents per query, for every large budget. `,
      impossible ? "No loss in [0, 1] has these variances: v + s₂ is above 1/4." : "",
    ),
  ];
}

// ================ (c) the stream of three documents ================

// Cumulative loss, rounds with a mistake and both bounds after each of some numbers of rounds.
function streamAfter(rounds, measure, eta) {
  const list = perceptron.STALLED;
  const losses = perceptron.run(list, Math.max(...rounds), measure, eta);
  const factors = [perceptron.normFactor(list, measure), perceptron.factorOfEveryStep(list, eta)];
  let [loss, mistakes, t] = [0, 0, 0];
  return rounds.map((T) => {
    for (; t < T; t++) {
      loss += losses[t];
      if (losses[t] > 0) mistakes++;
    }
    const [printed, everyStep] = factors.map((C) => perceptronBounds.rightSide(list, mistakes, C, measure).bound);
    return { T, loss, mistakes, printed, everyStep };
  });
}

function drawStream({ measure, eta, T }, width) {
  const list = perceptron.STALLED;
  const C = perceptron.normFactor(list, measure);
  const rounds = [...new Set(logSpaced(1, T, 80).map((t) => Math.round(t)))];
  const course = streamAfter(rounds, measure, eta);
  const last = course.at(-1);
  const title = measure === "map" ? "1 − AP" : "1 − NDCG";
  const lines = [
    ["loss", `cumulative ${title} of Algorithm 1`, `step η = ${shown(eta)}`],
    [
      "printed",
      "Theorem 5",
      `2 Σ f(u) + C ‖u‖², C = 4 m R² v_max = ${shown(C)}, at the best u; proved for η = 1/C = ${shown(1 / C)}`,
    ],
    ["everyStep", "the bound for every step", `2 Σ f(u) + (2/η + Δ²) ‖u‖² at the best u`],
  ];
  const curves = lines.map(([name], i) => ({ label: String(i + 1), points: course.map((row) => [row.T, row[name]]) }));
  const outcome =
    last.loss > last.printed
      ? "The loss exceeds the bound of Theorem 5."
      : "The loss is within the bound of Theorem 5.";
  const values = lines.map(([name, words]) => `${words}: ${shown(last[name])}`).join("; ");
  const said = `Loss and bounds against rounds. After ${wholeNumber(T)} rounds with η = ${shown(eta)}: ${values}. ${outcome}`;
  const everyRound = [
    last.loss,
    perceptronBounds.corollary6(list, C),
    perceptronBounds.corollary6(list, perceptron.factorOfEveryStep(list, eta)),
  ];
  const all = curves.flatMap((curve) => curve.points.map(([, y]) => y));
  const rows = lines.map(([name, words, about], i) => [
    key(i, i + 1, words, about),
    shown(last[name], 4),
    i === 0 ? "–" : shown(everyRound[i], 4),
  ]);
  return [
    plot({
      width,
      x: [1, Math.max(T, 10)],
      y: rangeOf(all, 1e-3, 1e9),
      xlabel: "rounds, T",
      ylabel: `cumulative ${title}`,
      curves,
      said,
    }),
    html(
      "p",
      { class: "outcome" },
      html("strong", {}, outcome),
      ` ${wholeNumber(last.mistakes)} of ${wholeNumber(T)} rounds had a loss.`,
    ),
    grid(["Quantity", `After ${wholeNumber(T)} rounds`, "After any number of rounds"], rows, "Loss and bounds", width),
  ];
}

// ================ (d) feedback on the top ================

const MOST_DOCUMENTS = 12;
const SHADE = { 1: 1, [2 / 3]: 2, [1 / 2]: 0 };

function drawFeedback({ m, k, grades, T }, width) {
  const seen = Math.min(k, m);
  const side = Math.min(Math.floor((width - 60) / MOST_DOCUMENTS), 44);
  const [left, top] = [46, 8];
  const bottom = top + side * (MOST_DOCUMENTS - 1);
  const of = (documents, labels) => partialLabels.regretExponent(documents, grades, labels);
  const least = of(m, seen);
  const words = `${grades === 2 ? "binary labels" : `${grades} grades`}, ${m} documents, ${seen} labels seen`;
  const said = `The power of T with which the least regret in NDCG grows, for every number of documents and of labels seen. ${words}: ${POWERS[least]}.`;
  const [wide, high] = [left + side * MOST_DOCUMENTS + 6, bottom + 40];
  const drawn = svg("svg", {
    viewBox: `0 0 ${wide} ${high}`,
    width: wide,
    height: high,
    role: "img",
    "aria-label": said,
  });
  for (let documents = 2; documents <= MOST_DOCUMENTS; documents++) {
    const y = bottom - side * (documents - 1);
    drawn.append(svg("text", { x: left - 6, y: y + side / 2 + 4, "text-anchor": "end" }, String(documents)));
    for (let labels = 1; labels <= documents; labels++) {
      const [x, exponent] = [left + side * (labels - 1), of(documents, labels)];
      const here = documents === m && labels === seen;
      drawn.append(
        svg("rect", {
          x: x + 1,
          y: y + 1,
          width: side - 2,
          height: side - 2,
          class: here ? "cell-at" : "phase",
          style: `--of: ${colour(SHADE[exponent])}`,
        }),
        svg(
          "text",
          { x: x + side / 2, y: y + side / 2 + 4, "text-anchor": "middle", class: here ? "end" : "" },
          FRACTIONS[exponent],
        ),
      );
    }
  }
  for (let labels = 1; labels <= MOST_DOCUMENTS; labels++) {
    drawn.append(
      svg("text", { x: left + side * (labels - 0.5), y: bottom + 15, "text-anchor": "middle" }, String(labels)),
    );
  }
  const middle = (top + bottom) / 2;
  drawn.append(
    svg("text", { x: left + (side * MOST_DOCUMENTS) / 2, y: bottom + 33, "text-anchor": "middle" }, "labels seen, k"),
    svg("text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, "documents, m"),
  );
  const rows = targetsOfFeedback.map(({ name, place, known }) => {
    const [sign, exponent] = known(m, seen, grades);
    const said = { "=": "grows as", "≤": "at most" }[sign];
    const about = html("span", {}, name, html("span", { class: "spread" }, place));
    if (exponent === null) return [about, "nothing stated", "–"];
    return [about, exponent === 1 ? "no" : "yes", [`${said} `, ...power(exponent)]];
  });
  const forced = grades === 2 && m >= 3 && seen === m - 1 ? partialLabels.nearTies(m, T) : undefined;
  const atLeast =
    forced === undefined
      ? "A number is shown for binary labels of all of three or more documents but one."
      : forced === null
        ? `The number of Proposition 4 holds for ${wholeNumber(T)} rounds only on shorter lists.`
        : `After ${wholeNumber(T)} rounds no learner has a regret below ${shown(forced)} on all sequences (Proposition 4).`;
  return [
    drawn,
    html(
      "p",
      { class: "outcome" },
      html("strong", {}, "NDCG: the least regret grows as ", ...power(least)),
      ` (${words}). ${atLeast}`,
    ),
    grid(
      ["Measure or loss", "Can be learned", "Regret after T rounds"],
      rows,
      "What can be learned from labels on top",
      width,
    ),
  ];
}

// ================ the page ================

const probability = {
  name: "delta",
  label: "Confidence: bounds fail with probability δ =",
  low: 0.001,
  high: 0.5,
  value: 0.05,
  log: true,
};
const PARTS = {
  bounds: [
    [
      [choice, { name: "axis", label: "Horizontal axis", options: { n: AXES.n.label, m: AXES.m.label }, value: "n" }],
      [slider, { name: "n", label: "Queries or rounds, n =", low: 1, high: 1e9, value: 10000, log: true, whole: true }],
      [slider, { name: "m", label: "Documents per query, m =", low: 2, high: 1e5, value: 50, log: true, whole: true }],
      [slider, probability],
      [slider, { name: "radius", label: "Radius of the ball, W =", low: 0.01, high: 100, value: 1, log: true }],
      [slider, { name: "d", label: "Features, d =", low: 2, high: 1000, value: 46, log: true, whole: true }],
      [slider, { name: "risk", label: "L* and L̂ as a share of B:", low: 0, high: 1, value: 0.1 }],
    ],
    drawBounds,
  ],
  budget: [
    [
      [
        slider,
        { name: "C", label: "Budget of documents, C =", low: 10, high: 1e6, value: 50000, log: true, whole: true },
      ],
      [slider, { name: "v", label: "Variance between queries, v =", low: 0, high: 0.25, value: 0.02 }],
      [slider, { name: "s1", label: "Variance of the share of a document, s₁ =", low: 0, high: 0.1, value: 0.01 }],
      [slider, { name: "rest", label: "What pairs add, s₂ − 2 s₁ =", low: 0, high: 0.25, value: 0.18 }],
      [slider, { name: "V", label: "Capacity, V =", low: 1, high: 1000, value: 46, log: true, whole: true }],
      [slider, { ...probability }],
      [
        slider,
        { name: "c1", label: "Constant that the paper leaves open, c₁ =", low: 0.1, high: 10, value: 1, log: true },
      ],
    ],
    drawBudget,
  ],
  stream: [
    [
      [choice, { name: "measure", label: "Ranking loss", options: { map: "1 − AP", ndcg: "1 − NDCG" }, value: "map" }],
      [slider, { name: "eta", label: "Step, η =", low: 0.01, high: 1e5, value: 1, log: true }],
      [slider, { name: "T", label: "Rounds, T =", low: 10, high: 1e5, value: 20000, log: true, whole: true }],
    ],
    drawStream,
  ],
  feedback: [
    [
      [
        choice,
        {
          name: "grades",
          label: "Labels",
          options: { 2: "binary", 3: "three grades", 4: "four grades", 5: "five grades" },
          value: "2",
        },
      ],
      [slider, { name: "m", label: "Documents, m =", low: 2, high: MOST_DOCUMENTS, value: 5, whole: true }],
      [
        slider,
        {
          name: "k",
          label: "Labels seen on top (at most m), k =",
          low: 1,
          high: MOST_DOCUMENTS,
          value: 4,
          whole: true,
        },
      ],
      [slider, { name: "T", label: "Rounds, T =", low: 100, high: 1e9, value: 1e6, log: true, whole: true }],
    ],
    (given, width) => drawFeedback({ ...given, grades: Number(given.grades) }, width),
  ],
};

// The numbers of a part in the address of the page, #PLACE?name=value&..., where they can be sent from.
const address = {
  // The place of an address, and what follows its question mark.
  parts(hash) {
    const [place, ...asked] = hash.replace(/^#/, "").split("?");
    return [place, Object.fromEntries(new URLSearchParams(asked.join("?")))];
  },
  of: (place, given) => `#${place}?${new URLSearchParams(given)}`,
};

// Puts the controls in place of what is said without scripts, and draws anew whenever one of them or the width changes.
function mount(place) {
  const [declared, draw] = PARTS[place.dataset.explore];
  const drawing = html("div", { class: "drawn" });
  const within = place.closest("section")?.id ?? "";
  const given = () => Object.fromEntries(controls.map((control) => [control.name, control.read()]));
  const render = () => drawing.replaceChildren(...draw(given(), Math.min(Math.max(drawing.clientWidth, 280), 720)));
  const changed = () => {
    render();
    history.replaceState(null, "", address.of(within, given()));
  };
  const controls = declared.map(([make, about]) => make(about, changed));
  place.replaceChildren(html("div", { class: "controls" }, ...controls.map((control) => control.shown)), drawing);
  const asked = () => {
    const [wanted, numbers] = address.parts(location.hash);
    if (wanted !== within || !Object.keys(numbers).length) return;
    controls.forEach((control) => control.name in numbers && control.set(numbers[control.name]));
    if (place.closest("details")) place.closest("details").open = true;
    render();
    place.closest("section").scrollIntoView();
  };
  render();
  place.closest("details")?.addEventListener("toggle", render); // what is folded has no width
  asked();
  addEventListener("hashchange", asked);
  let width = drawing.clientWidth;
  addEventListener("resize", () => {
    if (drawing.clientWidth !== width) render();
    width = drawing.clientWidth;
  });
}

document.querySelectorAll("[data-explore]").forEach(mount);
