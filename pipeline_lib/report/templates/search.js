// Searches all pages of the report: looks the words of a query up in INDEX, which was made with the pages. The single
// file contains it; the other pages read it from search-index.js when a reader turns to the search.

const MOST = 15; // results shown
const AROUND = 70; // letters shown on each side of what was found in a paragraph
const KINDS = { Statement: 2, Claim: 1.2, Section: 1.2, Text: 0.7 }; // by which factor kinds count more or less than others
const [SHOWN, OTHER] = [3, 1]; // how much a word counts in what is shown of an entry, and elsewhere in it
const FRONT = 15; // letters in which an entry says its place in the paper
const [ALIKE, BEGINNING, TYPO] = [0.9, 0.7, 0.5]; // how much a synonym, a word begun and one mistyped count
const STOP = new Set(
  "a an and are as at be by can do does for from how i in is it my of on or that the this to what where which with".split(" "),
);
const SYNONYMS = [
  "rerun reproduce repeat replicate remake recompute",
  "licence copyright permission",
  "erratum error mistake bug",
  "term glossary definition",
  "reference bibliography",
  "cite citing citation bibtex",
  "provenance version software seed",
  "setting configuration parameter option",
].map((line) => line.split(" ").map(folded));

const query = (words) => wordsOf(words).filter((word) => !STOP.has(word)).map(folded);

// Folded words with the entries that have them, and how much they count there; the sentences that are shown, folded.
function lookup() {
  const words = new Map();
  const add = (entry, text, weight) => {
    for (const word of query(text)) {
      if (!words.has(word)) words.set(word, new Map());
      const counted = words.get(word);
      counted.set(entry, Math.max(weight, counted.get(entry) ?? 0));
    }
  };
  INDEX.entries.forEach(([, place, kind, shown, others], entry) => {
    add(entry, shown, SHOWN);
    add(entry, others, OTHER);
    if (kind !== "Text") add(entry, place, SHOWN);
  });
  const sentences = INDEX.entries.map(([, , , shown]) => ` ${query(shown).join(" ")} `);
  return { words, sentences };
}

// Whether two words differ by at most so many letters that are wrong, missing, too many, or in the wrong order.
function near(one, other, most) {
  if (Math.abs(one.length - other.length) > most) return false;
  let [before, last] = [[], Array.from({ length: other.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = last[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      row[j] = Math.min(change, last[j] + 1, row[j - 1] + 1);
      if (one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    if (Math.min(...row) > most) return false;
    [before, last] = [last, row];
  }
  return last[other.length] <= most;
}

// How much a word of the report counts for a word of the query; 0 if it is another one.
function likeness(word, wanted, alike, forgiving) {
  if (word === wanted) return 1;
  if (alike.includes(word)) return ALIKE;
  if (wanted.length < 2 || /^\d/.test(wanted)) return 0;
  if (word.startsWith(wanted)) return BEGINNING;
  const most = wanted.length < 4 ? 0 : wanted.length < 8 ? 1 : 2;
  return forgiving && most > 0 && near(word, wanted, most) ? TYPO : 0;
}

// The entries that have all words, the best first, and within equal ones in the order of the report.
function ranked({ words, sentences }, wanted, forgiving) {
  let found = null;
  for (const one of wanted) {
    const alike = SYNONYMS.find((line) => line.includes(one)) ?? [];
    const scores = new Map();
    for (const [word, entries] of words) {
      const factor = likeness(word, one, alike, forgiving);
      if (factor === 0) continue;
      for (const [entry, weight] of entries) {
        if (found === null || found.has(entry)) scores.set(entry, Math.max(factor * weight, scores.get(entry) ?? 0));
      }
    }
    for (const [entry, score] of scores) scores.set(entry, score + (found?.get(entry) ?? 0));
    found = scores;
  }
  const sentence = ` ${wanted.join(" ")} `;
  // Words that are a whole title, or stand together in a sentence.
  const together = (entry) => {
    if (sentences[entry] === sentence) return 4;
    const at = wanted.length > 1 ? sentences[entry].indexOf(sentence) : -1;
    return at < 0 ? 0 : at < FRONT ? 3 : 2;
  };
  const score = (entry) => (found.get(entry) + together(entry)) * (KINDS[INDEX.entries[entry][2]] ?? 1);
  const order = [...found.keys()].sort((a, b) => a - b).map((entry) => [entry, score(entry)]);
  return order.sort(([, a], [, b]) => b - a).map(([entry]) => entry);
}

// What is looked for as it is typed, and else as it may have been meant.
function search(table, words) {
  const wanted = query(words);
  if (wanted.length === 0) return [];
  const found = ranked(table, wanted, false);
  return found.length > 0 ? found : ranked(table, wanted, true);
}

// The part of a paragraph around the first word that was looked for.
function excerpt(text, words) {
  const wanted = query(words);
  const isWanted = ([word]) => query(word).some((one) => wanted.some((other) => one.startsWith(other)));
  const first = [...text.matchAll(/\S+/g)].find(isWanted)?.index ?? 0;
  const begin = first <= AROUND ? 0 : text.indexOf(" ", first - AROUND) + 1;
  const end = text.length <= first + AROUND ? text.length : text.lastIndexOf(" ", first + AROUND);
  return `${begin > 0 ? "… " : ""}${text.slice(begin, Math.max(end, first))}${end < text.length ? " …" : ""}`;
}

function result(entry, words) {
  const [page, place, kind, shown] = INDEX.entries[entry];
  const [file, title] = INDEX.pages[page];
  const item = document.createElement("li");
  const link = document.createElement("a");
  const where = document.createElement("span");
  link.href = document.getElementById(place) ? `#${place}` : `${document.body.dataset.root}${file}#${place}`;
  link.textContent = `${kind}: ${kind === "Text" ? excerpt(shown, words) : shown}`;
  where.className = "where";
  where.textContent = ` ${title}`;
  item.append(link, where);
  return item;
}

// Reads the index; what is typed meanwhile is looked up then.
function load(show, fail) {
  const script = document.createElement("script");
  script.src = `${document.body.dataset.root}search-index.js`;
  script.addEventListener("load", show);
  script.addEventListener("error", fail);
  document.head.append(script);
}

function makeSearch(nav) {
  const [field, box, said, list] = ["input", "div", "p", "ol"].map((tag) => document.createElement(tag));
  field.type = "search";
  field.placeholder = "Search the report";
  field.setAttribute("aria-label", "Search the report: text, claims, tables, figures and terms");
  said.setAttribute("role", "status");
  box.className = "results";
  box.append(said, list);
  let [table, isAsked] = [null, false];
  const fail = () => (said.textContent = "The search needs the file search-index.js of the report.");
  const show = () => {
    if (typeof INDEX === "undefined") {
      if (!isAsked) load(show, fail);
      isAsked = true;
      return;
    }
    table ??= lookup();
    const found = search(table, field.value);
    list.replaceChildren(...found.slice(0, MOST).map((entry) => result(entry, field.value)));
    if (query(field.value).length === 0) said.textContent = "";
    else if (found.length === 0) said.textContent = "Nothing was found.";
    else said.textContent = found.length > MOST ? `The first ${MOST} of ${found.length} places` : `Places found: ${found.length}`;
  };
  field.addEventListener("focus", show);
  field.addEventListener("input", show);
  nav.querySelector(".brand").after(field, box);
}

makeSearch(document.querySelector("nav"));
