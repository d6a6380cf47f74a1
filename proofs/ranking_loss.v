(* Lemma 1 of docs/weights-of-slam.md: for every ranking, 1 - AP and 1 - NDCG
   are at most the sum of the weights of misordered documents; and so is
   1 - NDCG@K. This is the hypothesis [loss_at_most_weights] of
   perceptron_bound.v.

   Here ranks and positions are counted from 0.

   Contents
     One level             the documents of some labels in a ranking; the sum of
                           decreasing weights over the last places is smallest
     Rankings by scores
     Gains and discounts   what is assumed of them
     Average precision     the weights (6)
     NDCG                  the tightest weights v*, those of (9), and those of
                           (31) for NDCG@K
     Both theorems         for these measures, without a hypothesis on the loss
*)

From formal Require Import library perceptron_bound.

(* ------------------------------------------------------------------------- *)
(* One level *)

(* The first n of m positions *)
Definition first m n := [set c : 'I_m | (c < n)%N].

Lemma card_first m n : (n <= m)%N -> #|first m n| = n.
Proof.
move=> n_le; rewrite -sum1_card (eq_bigl (fun c : 'I_m => (c < n)%N)).
  by rewrite -(big_ord_widen m (fun=> 1%N) n_le) sum1_card card_ord.
by move=> c; rewrite inE.
Qed.

Section Level.

(* The documents of P, such as those with the label l or more, in a ranking *)
Variables (m : nat) (rank : 'I_m -> 'I_m) (P : {set 'I_m}).
Hypothesis rank_inj : injective rank.
Implicit Types i j : 'I_m.

(* How many documents of P, and how many others, stand above document i *)
Definition above i := #|[set j in P | (rank j < rank i)%N]|.
Definition others i := #|[set j in ~: P | (rank j < rank i)%N]|.

Lemma rank_split i : rank i = (above i + others i)%N :> nat.
Proof.
have <- : #|[set j | (rank j < rank i)%N]| = rank i.
  rewrite -sum1_card -[RHS](card_first (ltnW (ltn_ord (rank i)))) -sum1_card.
  rewrite [RHS](reindex_inj rank_inj) /=.
  by apply: eq_bigl => j; rewrite !inE.
rewrite -(cardsID P); congr (_ + _)%N; apply: eq_card => j.
  by rewrite !inE andbC.
by rewrite !inE.
Qed.

Lemma others_le i : (others i <= m - #|P|)%N.
Proof.
rewrite -[m in (m - _)%N]card_ord -(cardsC P) addKn; apply: subset_leq_card.
by apply/subsetP => j; rewrite inE => /andP[].
Qed.

Lemma above_lt i : i \in P -> (above i < #|P|)%N.
Proof.
move=> iP; apply: proper_card; apply/properP; split.
  by apply/subsetP => j; rewrite inE => /andP[].
by exists i => //; rewrite inE iP ltnn.
Qed.

Lemma above_mono i j : i \in P -> (rank i < rank j)%N -> (above i < above j)%N.
Proof.
move=> iP i_lt; apply: proper_card; apply/properP; split.
  by apply/subsetP => j'; rewrite !inE => /andP[-> /= /ltn_trans]; apply.
by exists i; rewrite !inE iP ?ltnn.
Qed.

Lemma others_mono i j : (rank i <= rank j)%N -> (others i <= others j)%N.
Proof.
move=> i_le; apply: subset_leq_card; apply/subsetP => j'.
by rewrite !inE => /andP[-> /= /leq_trans]; apply.
Qed.

Lemma above_inj : {in P &, injective above}.
Proof.
move=> i j iP jP same; case: (ltngtP (rank i) (rank j)) => [lt|lt|/val_inj].
- by have := above_mono iP lt; rewrite same ltnn.
- by have := above_mono jP lt; rewrite same ltnn.
exact: rank_inj.
Qed.

(* above i as one of m positions *)
Lemma above_lt_m i : (above i < m)%N.
Proof.
by apply: leq_ltn_trans (ltn_ord (rank i)); rewrite rank_split leq_addr.
Qed.

Definition place_of i : 'I_m := Ordinal (above_lt_m i).

Lemma place_of_inj : {in P &, injective place_of}.
Proof. by move=> i j iP jP [/above_inj]; apply. Qed.

(* The documents of P have the places 0, ..., r - 1 in their own order. *)
Lemma places : place_of @: P = first m #|P|.
Proof.
apply/eqP; rewrite eqEcard; apply/andP; split.
  by apply/subsetP => c /imsetP[i iP ->]; rewrite inE above_lt.
rewrite (card_in_imset place_of_inj) card_first //.
by rewrite -[X in (_ <= X)%N]card_ord max_card.
Qed.

Lemma sum_places (V : zmodType) (f : nat -> V) :
  \sum_(i in P) f (above i) = \sum_(c in first m #|P|) f c.
Proof. by rewrite -places (big_imset _ place_of_inj). Qed.

(* Documents of P that others precede *)
Definition preceded := [set i in P | (0 < others i)%N].

(* Let h decrease, and let pos give each document of P one of the positions
   0, ..., r - 1. The places of the documents that others precede are the last
   ones, so that the sum of h over them is at most that over their positions. *)
Variables (R : realFieldType) (h : nat -> R) (pos : 'I_m -> 'I_m).
Hypothesis h_decreases : forall a b, (a <= b)%N -> h b <= h a.
Hypothesis pos_inj : injective pos.
Hypothesis pos_lt : forall i, i \in P -> (pos i < #|P|)%N.

Lemma sum_of_last :
  \sum_(i in preceded) h (above i) <= \sum_(i in preceded) h (pos i).
Proof.
have sub : preceded \subset P by apply/subsetP => i; rewrite inE => /andP[].
pose S := place_of @: preceded; pose S' := pos @: preceded.
have place_inj : {in preceded &, injective place_of}.
  by move=> i j /(subsetP sub) iP /(subsetP sub) jP; apply: place_of_inj.
have -> : \sum_(i in preceded) h (above i) = \sum_(c in S) h c.
  by rewrite (big_imset _ place_inj).
have -> : \sum_(i in preceded) h (pos i) = \sum_(c in S') h c.
  by rewrite (big_imset _ (in2W pos_inj)).
have card_S : #|S :\: S'| = #|S' :\: S|.
  have : #|S| = #|S'|.
    by rewrite (card_in_imset place_inj) (card_imset _ pos_inj).
  by rewrite -(cardsID S' S) -(cardsID S S') setIC => /addnI.
have below b c : b \in S' :\: S -> c \in S -> (b <= c)%N.
  rewrite inE => /andP[bS /imsetP[i iB b_pos]] /imsetP[j jB ->] /=.
  have : b \in first m #|P| by rewrite inE b_pos pos_lt // (subsetP sub).
  rewrite -places => /imsetP[i' i'P b_place].
  rewrite b_place /= ltnW // above_mono // ltnNge; apply/negP => le.
  move/negP: bS; apply; rewrite b_place imset_f // inE i'P.
  by apply: leq_trans (others_mono le); move: jB; rewrite inE => /andP[].
rewrite [X in X <= _](big_setID S') [X in _ <= X](big_setID S) /=.
rewrite setIC ler_add2l.
case: (set_0Vmem (S :\: S')) => [S0|[c0 c0S]].
  have S'0 : S' :\: S = set0 by apply/eqP; rewrite -cards_eq0 -card_S S0 cards0.
  by rewrite S0 S'0 !big_set0.
have size_gt0 : (0 < #|S :\: S'|)%N by apply/card_gt0P; exists c0.
rewrite -(ler_pmuln2r size_gt0) -[X in _ <= X]sumrMnl.
rewrite [X in _ *+ X <= _]card_S -sumr_const; apply: ler_sum => b bS.
rewrite -sumr_const; apply: ler_sum => c; rewrite inE => /andP[_ cS].
exact/h_decreases/below.
Qed.

(* What each document of P adds to a loss is at most h at its place, if others
   precede it, and nothing if none does. *)
Lemma level_loss (g : 'I_m -> R) :
  (forall i, i \in P -> others i = 0%N -> g i <= 0) ->
  (forall i, i \in P -> g i <= h (above i)) ->
  \sum_(i in P) g i <= \sum_(i in preceded) h (pos i).
Proof.
move=> g_le0 g_le; apply: le_trans sum_of_last.
rewrite (big_setID preceded) /= -[X in _ <= X]addr0; apply: ler_add.
  rewrite (eq_bigl (fun i => i \in preceded)) => [|i]; last first.
    by rewrite !inE andbA andbb.
  by apply: ler_sum => i; rewrite inE => /andP[iP _]; apply: g_le.
rewrite -oppr_ge0 -sumrN; apply: sumr_ge0 => i.
rewrite !inE => /andP[not_preceded iP]; rewrite oppr_ge0 g_le0 //.
by move: not_preceded; rewrite iP -leqNgt leqn0 => /eqP.
Qed.

End Level.

Lemma sum_le_more (R : realFieldType) (I : finType) (P Q : pred I) f :
  (forall i, 0 <= f i) -> (forall i, P i -> Q i) ->
  \sum_(i | P i) f i <= \sum_(i | Q i) f i :> R.
Proof.
move=> f_ge0 PQ; rewrite [X in _ <= X](bigID P) /=.
rewrite (eq_bigl P) => [|i]; last by apply: andb_idl; apply: PQ.
by rewrite ler_addl; apply: sumr_ge0.
Qed.

(* ------------------------------------------------------------------------- *)
(* Rankings by scores *)

(* What has a larger score stands above in the ranking rk; equal scores may
   stand in any order. *)
Definition sorts (R : realFieldType) m (s : 'I_m -> R) (rk : 'I_m -> 'I_m) :=
  injective rk /\ forall i j, s j < s i -> (rk i < rk j)%N.

(* A rule that gives such a ranking for all scores *)
Definition ranks (R : realFieldType) m (rank : ('I_m -> R) -> 'I_m -> 'I_m) :=
  forall s, sorts s (rank s).

(* Such rankings exist: of equal scores, let the first document stand above. *)
Theorem ranks_exist (R : realFieldType) m : exists rank, @ranks R m rank.
Proof.
pose before (s : 'I_m -> R) j i := (s i < s j) || (s i == s j) && (j < i)%N.
have irreflexive s i : before s i i = false by rewrite /before ltxx ltnn andbF.
have transitive s : transitive (before s).
  move=> b a c /orP[ab|/andP[/eqP ab lt_ab]] /orP[bc|/andP[/eqP bc lt_bc]].
  - by rewrite /before (lt_trans bc ab).
  - by rewrite /before bc ab.
  - by rewrite /before -ab bc.
  by rewrite /before bc ab eqxx (ltn_trans lt_ab lt_bc) orbT.
have card_lt s a b :
    before s a b -> (#|[pred j | before s j a]| < #|[pred j | before s j b]|)%N.
  move=> ab; apply: proper_card; apply/properP; split.
    by apply/subsetP => j; rewrite !inE => /transitive; apply.
  by exists a; rewrite !inE ?irreflexive.
have card_lt_m s i : (#|[pred j | before s j i]| < m)%N.
  rewrite -[X in (_ < X)%N]card_ord; apply: proper_card; apply/properP; split.
    by apply/subsetP.
  by exists i; rewrite // inE irreflexive.
exists (fun s i => Ordinal (card_lt_m s i)) => s; split=> [i j [same]|i j lt].
  apply/eqP; apply: contraT => neq; exfalso.
  have [] : before s i j \/ before s j i.
    rewrite /before; case: (ltgtP (s i) (s j)) => _ /=; [by right|by left|].
    by case: (ltngtP i j) => [| |/val_inj/eqP];
      [left | right | rewrite (negPf neq)].
  - by move/card_lt; rewrite same ltnn.
  by move/card_lt; rewrite same ltnn.
by apply: card_lt; rewrite /before lt.
Qed.

(* Every ranking by scores is one of those by a rule. *)
Lemma rule_through (R : realFieldType) m (s : 'I_m -> R) rk :
  sorts s rk -> exists2 rank, ranks rank & rank s = rk.
Proof.
move=> [rk_inj rk_sorts]; have [rank0 ranked0] := ranks_exist R m.
exists (fun s' => if [forall i, s' i == s i] then rk else rank0 s').
  move=> s'; case: ifP => [/forallP same|_]; last exact: ranked0.
  by split=> // i j; rewrite (eqP (same i)) (eqP (same j)); apply: rk_sorts.
by case: ifP => // /forallP[] i.
Qed.

(* The positions pos are those of an order of falling labels. *)
Definition falling m (label : 'I_m -> nat) (pos : 'I_m -> 'I_m) :=
  forall i j, (label j < label i)%N -> (pos i < pos j)%N.

(* ------------------------------------------------------------------------- *)
(* Gains and discounts *)

(* A gain G is 0 for the label 0, and increases with the label. *)
Record gain (R : realFieldType) := Gain {
  gain_of :> nat -> R;
  G0 : gain_of 0%N = 0;
  G_increases : forall l, gain_of l <= gain_of l.+1
}.

(* The discount D of a rank, from 0, is at least 0, and decreases. *)
Record discount (R : realFieldType) := Discount {
  discount_of :> nat -> R;
  D_ge0 : forall c, 0 <= discount_of c;
  D_decreases : forall a b, (a <= b)%N -> discount_of b <= discount_of a
}.

(* The tightest weights need a convex one. *)
Definition convex (R : realFieldType) (D : nat -> R) :=
  forall a b c, (a <= b)%N -> D b - D (b + c)%N <= D a - D (a + c)%N.

(* The gain of the paper *)
Theorem gain_of_the_paper (R : realFieldType) :
  exists G : gain R, forall l, G l = 2%:R ^+ l - 1.
Proof.
have zero : 2%:R ^+ 0 - 1 = 0 :> R by rewrite expr0 subrr.
have increases l : 2%:R ^+ l - 1 <= 2%:R ^+ l.+1 - 1 :> R.
  by rewrite ler_add2r exprS ler_pemull ?ler1n // exprn_ge0 ?ler0n.
by exists (@Gain R (fun l => 2%:R ^+ l - 1) zero increases).
Qed.

(* The discount of the paper, 1 / log2(c + 2) for the rank c, is convex. Of the
   logarithm it is used that log2(a b) = log2 a + log2 b, that it increases, and
   that log2 2 = 1, which no other function of the real numbers has. *)
Theorem discount_of_the_paper (R : realFieldType) (log2 : nat -> R) :
  (forall a b, (0 < a)%N -> (0 < b)%N -> log2 (a * b)%N = log2 a + log2 b) ->
  (forall a b, (0 < a)%N -> (a <= b)%N -> log2 a <= log2 b) ->
  log2 2%N = 1 ->
  exists D : discount R, (forall c, D c = (log2 c.+2)^-1) /\ convex D.
Proof.
move=> product increases log2_2; pose D c := (log2 c.+2)^-1.
have log_gt0 c : 0 < log2 c.+2.
  apply: (@lt_le_trans _ _ 1); first exact: ltr01.
  by rewrite -log2_2 increases.
have ge0 c : 0 <= D c by rewrite invr_ge0 ltW.
have decreases a b : (a <= b)%N -> D b <= D a.
  by move=> ab; rewrite lef_pinv ?posrE ?log_gt0 // increases.
have step c : D c.+1 - D c.+2 <= D c - D c.+1.
  have concave : log2 c.+2 + log2 c.+4 <= log2 c.+3 + log2 c.+3.
    rewrite -!product //; apply: increases => //.
    by rewrite (mulnS c.+2 c.+3) (mulSn c.+2 c.+3) leq_add2r.
  rewrite /D; move: (log_gt0 c) (log_gt0 c.+1) (log_gt0 c.+2) concave.
  set x := log2 c.+2; set y := log2 c.+3; set z := log2 c.+4.
  move=> x_gt0 y_gt0 z_gt0.
  rewrite -subr_ge0 => concave; rewrite -subr_ge0.
  have -> : x^-1 - y^-1 - (y^-1 - z^-1)
      = ((x - z) ^+ 2 + (x + z) * (y + y - (x + z))) / (2%:R * (x * y * z)).
    by field; rewrite !gt_eqF ?ltr0n.
  apply: divr_ge0; last by rewrite mulr_ge0 ?ler0n // ltW // !mulr_gt0.
  by rewrite addr_ge0 ?sqr_ge0 // mulr_ge0 // addr_ge0 // ltW.
have steps a b : (a <= b)%N -> D b - D b.+1 <= D a - D a.+1.
  elim: b => [|b IH]; first by rewrite leqn0 => /eqP->.
  rewrite leq_eqVlt => /orP[/eqP-> //|]; rewrite ltnS => /IH.
  exact: le_trans (step b).
exists (@Discount R D ge0 decreases); split=> // a b c ab /=.
elim: c => [|c IH]; first by rewrite !addn0 !subrr.
have split_D n : D n - D (n + c.+1)%N
    = (D n - D (n + c)%N) + (D (n + c)%N - D (n + c).+1).
  by rewrite addnS addrA subrK.
by rewrite !split_D ler_add // steps // leq_add2r.
Qed.

(* The discount of NDCG@K *)
Section Cut.

Variables (R : realFieldType) (D : discount R) (K : nat).

Let cut_D c : R := if (c < K)%N then D c else 0.

Let cut_ge0 c : 0 <= cut_D c.
Proof. by rewrite /cut_D; case: ifP => // _; apply: D_ge0. Qed.

Let cut_decreases a b : (a <= b)%N -> cut_D b <= cut_D a.
Proof.
move=> ab; rewrite /cut_D; case: (ltnP b K) => [b_lt|_].
  by rewrite (leq_ltn_trans ab b_lt) D_decreases.
exact: cut_ge0.
Qed.

Definition cut : discount R := Discount cut_ge0 cut_decreases.

Lemma cutE c : cut c = if (c < K)%N then D c else 0.
Proof. by []. Qed.

End Cut.

Section Ranking.

Variables (R : realFieldType) (E : space R) (m : nat).
Variables (x : 'I_m -> E) (label : 'I_m -> nat).
Variable k : ('I_m -> R) -> 'I_m -> 'I_m.
Variable rank : ('I_m -> R) -> 'I_m -> 'I_m.

Hypothesis ranked : ranks rank.

(* The documents with a label above l; pos gives positions in an order of
   falling labels. *)
Definition level l := [set i | (l < label i)%N].

Lemma preceded_misordered v RML s l i :
  i \in preceded (rank s) (level l) ->
  misordered (r := Round x label v k RML) s i.
Proof.
rewrite inE => /andP[]; rewrite inE => l_lt /card_gt0P[j].
rewrite !inE -leqNgt => /andP[j_le above_i]; apply/existsP; exists j.
rewrite /less /= (leq_ltn_trans j_le l_lt) /= leNgt; apply/negP => s_lt.
have [_ /(_ _ _ s_lt)] := ranked s.
by rewrite ltnNge ltnW.
Qed.

(* ------------------------------------------------------------------------- *)
(* Average precision *)

(* The r relevant documents, those with the label 1 or more, have the positions
   0, ..., r - 1 in any order. *)
Variable pos : 'I_m -> 'I_m.
Hypothesis pos_inj : injective pos.

Let relevant := level 0.
Let r := #|relevant|.
Let n := (m - r)%N.

(* The precision at the rank of a relevant document is the share of relevant
   ones down to it. If none is relevant, the loss is 0. *)
Definition AP_loss (rk : 'I_m -> 'I_m) : R :=
  if r == 0%N then 0
  else 1 - r%:R^-1 * \sum_(i in relevant)
                      (above rk relevant i).+1%:R / (rk i).+1%:R.

(* The weights (6), for positions from 0 *)
Definition v_MAP i : R :=
  if i \in relevant
  then r%:R^-1 - (pos i).+1%:R / (r%:R * (n + (pos i).+1)%:R) else 0.

Lemma v_MAP_fraction c : (0 < r)%N ->
  r%:R^-1 - c.+1%:R / (r%:R * (n + c.+1)%:R)
    = n%:R / (r%:R * (n + c.+1)%:R) :> R.
Proof.
move=> r_gt0; have r_neq0 : r%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have sum_neq0 : n%:R + (1 + c%:R) != 0 :> R.
  by rewrite -mulrS -natrD pnatr_eq0 addnS.
by rewrite natrD; field; rewrite sum_neq0.
Qed.

Lemma v_MAPE i : v_MAP i
  = if i \in relevant then n%:R / (r%:R * (n + (pos i).+1)%:R) else 0.
Proof.
rewrite /v_MAP; case: ifP => // i_rel; apply: v_MAP_fraction.
by apply/card_gt0P; exists i.
Qed.

Definition AP_round := Round x label v_MAP k (fun s => AP_loss (rank s)).

Lemma v_MAP_ge0 i : 0 <= v_MAP i.
Proof.
by rewrite v_MAPE; case: ifP => // _; rewrite divr_ge0 ?mulr_ge0 ?ler0n.
Qed.

Lemma v_MAP_sum : \sum_i v_MAP i <= 1.
Proof.
case: (eqVneq r 0%N) => [r0|r_neq0].
  rewrite big1 ?ler01 // => i _; rewrite v_MAPE.
  by rewrite [relevant](cards0_eq r0) inE.
have r_gt0 : 0 < r%:R :> R by rewrite ltr0n lt0n.
under eq_bigr do rewrite v_MAPE.
rewrite -big_mkcond /=.
apply: (@le_trans _ _ (\sum_(i in relevant) r%:R^-1)); last first.
  by rewrite sumr_const -/r -[_ *+ r]mulr_natr mulVf // gt_eqF.
apply: ler_sum => i _; rewrite invfM mulrCA ger_pmulr ?invr_gt0 //.
by rewrite ler_pdivr_mulr ?ltr0n ?addnS // mul1r ler_nat -addnS leq_addr.
Qed.

Lemma AP_loss_ge0 rk : injective rk -> 0 <= AP_loss rk.
Proof.
move=> rk_inj; rewrite /AP_loss -/r; case: eqP => // /eqP r_neq0.
have r_gt0 : 0 < r%:R :> R by rewrite ltr0n lt0n.
rewrite subr_ge0 ler_pdivr_mull // mulr1 -sumr_const; apply: ler_sum => i _.
rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat ltnS.
by rewrite (rank_split relevant rk_inj) leq_addr.
Qed.

Theorem AP_loss_at_most_weights :
  (forall i, i \in relevant -> (pos i < r)%N) ->
  loss_at_most_weights AP_round.
Proof.
move=> pos_lt s /=; rewrite /AP_loss; case: ifP => [r0|/negbT r_neq0].
  by apply: sumr_ge0 => i _; apply: v_MAP_ge0.
have [rank_inj _] := ranked s.
have r_gt0 : 0 < r%:R :> R by rewrite ltr0n lt0n.
pose h c : R := n%:R / (n + c.+1)%:R.
have h_decreases a b : (a <= b)%N -> h b <= h a.
  move=> ab; rewrite ler_wpmul2l ?ler0n // lef_pinv ?posrE ?ltr0n ?addnS //.
  by rewrite ler_nat ltnS leq_add2l.
pose g i : R := 1 - (above (rank s) relevant i).+1%:R / (rank s i).+1%:R.
have g_le0 i : i \in relevant -> others (rank s) relevant i = 0%N -> g i <= 0.
  move=> _ alone; rewrite /g (rank_split relevant rank_inj) alone addn0.
  by rewrite divff ?subrr // pnatr_eq0.
have g_le i : i \in relevant -> g i <= h (above (rank s) relevant i).
  move=> _; rewrite /g (rank_split relevant rank_inj) -addSn.
  set a := above _ _ _; set b := others _ _ _.
  have b_le : (b <= n)%N by apply: others_le.
  have -> : h a = 1 - a.+1%:R / (a.+1 + n)%:R.
    have nonzero : (a.+1 + n)%:R != 0 :> R by rewrite pnatr_eq0.
    rewrite -[X in X - _](divff nonzero) -mulrBl {1}natrD addrC addKr.
    by rewrite /h addnC.
  rewrite ler_add2l ler_opp2 ler_wpmul2l ?ler0n // lef_pinv ?posrE ?ltr0n //.
  by rewrite ler_nat leq_add2l.
apply: (@le_trans _ _ (\sum_(i in preceded (rank s) relevant) v_MAP i)).
  have -> : \sum_(i in preceded (rank s) relevant) v_MAP i
      = r%:R^-1 * \sum_(i in preceded (rank s) relevant) h (pos i).
    rewrite mulr_sumr; apply: eq_bigr => i; rewrite inE => /andP[i_rel _].
    by rewrite v_MAPE i_rel invfM mulrCA.
  have -> : 1 - r%:R^-1 * (\sum_(i in relevant)
        (above (rank s) relevant i).+1%:R / (rank s i).+1%:R)
      = r%:R^-1 * \sum_(i in relevant) g i.
    by rewrite sumrB sumr_const -/r mulrBr mulVf ?gt_eqF.
  rewrite ler_pmul2l ?invr_gt0 //.
  exact: (level_loss rank_inj h_decreases pos_inj pos_lt g_le0 g_le).
apply: sum_le_more => i; [exact: v_MAP_ge0 | exact: preceded_misordered].
Qed.

(* ------------------------------------------------------------------------- *)
(* NDCG *)

(* Now the documents have their positions in an order of falling labels. *)
Variables (G : gain R) (D : discount R).
Hypothesis pos_falling : falling label pos.

(* The DCG of a ranking, and that of the best one. If that is 0, so is the
   loss. *)
Definition DCG (rk : 'I_m -> 'I_m) : R := \sum_i G (label i) * D (rk i).
Let Z := DCG pos.
Definition NDCG_loss (rk : 'I_m -> 'I_m) : R :=
  if Z == 0 then 0 else 1 - DCG rk / Z.

(* The tightest weights, v* of Theorem 1 in docs/weights-of-slam.md; the level l
   here is l + 1 there, because the documents of the level l have a label above
   l, and there are #|level l| of them. *)
Definition v_NDCG i : R :=
  Z^-1 * \sum_(l < label i)
    (G l.+1 - G l) * (D (pos i) - D (pos i + (m - #|level l|))%N).

Definition NDCG_round := Round x label v_NDCG k (fun s => NDCG_loss (rank s)).

Lemma G_ge0 l : 0 <= G l.
Proof.
elim: l => [|l IH]; first by rewrite G0.
exact: le_trans IH (G_increases G l).
Qed.

Lemma Z_ge0 : 0 <= Z.
Proof. by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?G_ge0 ?D_ge0. Qed.

Lemma G_step_ge0 l : 0 <= G l.+1 - G l.
Proof. by rewrite subr_ge0 G_increases. Qed.

Lemma D_step_ge0 a c : 0 <= D a - D (a + c)%N.
Proof. by rewrite subr_ge0 D_decreases ?leq_addr. Qed.

Lemma v_NDCG_ge0 i : 0 <= v_NDCG i.
Proof.
rewrite /v_NDCG mulr_ge0 ?invr_ge0 ?Z_ge0 //; apply: sumr_ge0 => l _.
by rewrite mulr_ge0 ?G_step_ge0 ?D_step_ge0.
Qed.

(* A gain is the sum of its steps, so that a sum over documents with their gains
   is one over levels. *)
Let top := \max_i label i.

Lemma label_le i : (label i <= top)%N.
Proof. exact: leq_bigmax. Qed.

Lemma gain_steps (g : nat -> R) l : g 0%N = 0 ->
  g l = \sum_(a < l) (g a.+1 - g a).
Proof.
move=> g0; rewrite -(big_mkord xpredT (fun a => g a.+1 - g a)).
by rewrite telescope_sumr // g0 subr0.
Qed.

Lemma gain_by_levels (g : nat -> R) (f : 'I_m -> R) : g 0%N = 0 ->
  \sum_i g (label i) * f i
    = \sum_(l < top) (g l.+1 - g l) * \sum_(i in level l) f i.
Proof.
move=> g0.
have steps i : g (label i) = \sum_(l < top | (l < label i)%N) (g l.+1 - g l).
  rewrite -(big_ord_widen top (fun l => g l.+1 - g l) (label_le i)).
  exact: gain_steps.
under eq_bigr => i _ do rewrite steps mulr_suml.
rewrite (exchange_big_dep xpredT) //=; apply: eq_bigr => l _.
by rewrite mulr_sumr; apply: eq_bigl => i; rewrite inE.
Qed.

Lemma G_steps l : G l = \sum_(a < l) (G a.+1 - G a).
Proof. exact/gain_steps/G0. Qed.

Lemma by_levels (f : 'I_m -> R) :
  \sum_i G (label i) * f i
    = \sum_(l < top) (G l.+1 - G l) * \sum_(i in level l) f i.
Proof. exact/gain_by_levels/G0. Qed.

Lemma NDCG_loss_by_levels (rk : 'I_m -> 'I_m) : Z != 0 ->
  1 - DCG rk / Z
    = Z^-1 * \sum_(l < top)
               (G l.+1 - G l) * \sum_(i in level l) (D (pos i) - D (rk i)).
Proof.
move=> Z_neq0; rewrite -by_levels; under [in RHS]eq_bigr do rewrite mulrBr.
by rewrite sumrB mulrBr mulVf // [_ / Z]mulrC.
Qed.

(* The documents of a level have the first positions: no other precedes them in
   the order of pos. *)
Lemma pos_level l i : i \in level l -> pos i = above pos (level l) i :> nat.
Proof.
rewrite inE => l_lt; rewrite [LHS](rank_split (level l) pos_inj).
suff -> : others pos (level l) i = 0%N by rewrite addn0.
apply/eqP; rewrite cards_eq0; apply/eqP/setP => j; rewrite !inE -leqNgt.
apply/negP => /andP[j_le pos_lt].
have := pos_falling (leq_ltn_trans j_le l_lt).
by rewrite ltnNge ltnW.
Qed.

Lemma pos_level_lt l i : i \in level l -> (pos i < #|level l|)%N.
Proof. by move=> il; rewrite (pos_level il) above_lt. Qed.

(* The terms of the best DCG. If D is the discount of NDCG@K, which is 0 from the
   rank K on, these are the weights (31). *)
Definition v_cut i : R := G (label i) * D (pos i) / Z.
Definition cut_round := Round x label v_cut k (fun s => NDCG_loss (rank s)).

Lemma v_cut_ge0 i : 0 <= v_cut i.
Proof. by rewrite !mulr_ge0 ?invr_ge0 ?Z_ge0 ?G_ge0 ?D_ge0. Qed.

Lemma v_cut_total : Z != 0 -> \sum_i v_cut i = 1.
Proof. by move=> Z_neq0; rewrite -mulr_suml divff. Qed.

Lemma v_cut_sum : \sum_i v_cut i <= 1.
Proof.
case: (eqVneq Z 0) => [Z0|/v_cut_total->] //.
by rewrite big1 ?ler01 // => i _; rewrite /v_cut Z0 invr0 mulr0.
Qed.

(* What a document of one level adds to the loss of that level: the discount at
   its place in the level less that at its rank. *)
Definition lost (rk : 'I_m -> 'I_m) l i := D (above rk (level l) i) - D (rk i).

Lemma level_DCG_lost (rk : 'I_m -> 'I_m) l : injective rk ->
  \sum_(i in level l) (D (pos i) - D (rk i)) = \sum_(i in level l) lost rk l i.
Proof.
move=> rk_inj; rewrite !sumrB (sum_places _ rk_inj) -(sum_places _ pos_inj).
by congr (_ - _); apply: eq_bigr => i /pos_level->.
Qed.

(* Z(R) is the largest DCG of a ranking. *)
Theorem ideal_DCG (rk : 'I_m -> 'I_m) : injective rk -> DCG rk <= Z.
Proof.
move=> rk_inj; rewrite -subr_ge0 -sumrB; under eq_bigr do rewrite -mulrBr.
rewrite by_levels sumr_ge0 // => l _; rewrite mulr_ge0 ?G_step_ge0 //.
rewrite level_DCG_lost // sumr_ge0 // => i _; rewrite subr_ge0 D_decreases //.
by rewrite (rank_split (level l) rk_inj) leq_addr.
Qed.

Lemma NDCG_loss_ge0 (rk : 'I_m -> 'I_m) : injective rk -> 0 <= NDCG_loss rk.
Proof.
move=> rk_inj; rewrite /NDCG_loss; case: eqP => // /eqP Z_neq0.
have Z_gt0 : 0 < Z by rewrite lt_def Z_neq0 Z_ge0.
by rewrite subr_ge0 ler_pdivr_mulr // mul1r ideal_DCG.
Qed.

Lemma lost_le0 (rk : 'I_m -> 'I_m) l i : injective rk ->
  others rk (level l) i = 0%N -> lost rk l i <= 0.
Proof.
by move=> rk_inj alone; rewrite /lost (rank_split (level l) rk_inj) alone addn0 subrr.
Qed.

Lemma level_DCG_cut (rk : 'I_m -> 'I_m) l : injective rk ->
  \sum_(i in level l) (D (pos i) - D (rk i))
    <= \sum_(i in preceded rk (level l)) D (pos i).
Proof.
move=> rk_inj; rewrite level_DCG_lost //.
apply: (level_loss rk_inj (@D_decreases _ D) pos_inj (@pos_level_lt l)) => i _.
  exact: lost_le0.
by rewrite ler_subl_addr ler_addl D_ge0.
Qed.

Theorem cut_loss_at_most_weights : loss_at_most_weights cut_round.
Proof.
move=> s /=; rewrite /NDCG_loss; case: ifP => [_|/negbT Z_neq0].
  by apply: sumr_ge0 => i _; apply: v_cut_ge0.
have [rank_inj _] := ranked s.
have Z_gt0 : 0 < Z by rewrite lt_def Z_neq0 Z_ge0.
rewrite NDCG_loss_by_levels // /v_cut -mulr_suml mulrC ler_pmul2r ?invr_gt0 //.
pose mis i := misordered (r := cut_round) s i.
pose f i := if mis i then D (pos i) else 0.
have -> : \sum_(i | mis i) G (label i) * D (pos i) = \sum_i G (label i) * f i.
  rewrite big_mkcond; apply: eq_bigr => i _; rewrite /f.
  by case: ifP => // _; rewrite mulr0.
rewrite by_levels; apply: ler_sum => l _; rewrite ler_wpmul2l ?G_step_ge0 //.
apply: le_trans (level_DCG_cut l rank_inj) _; rewrite -big_mkcondr /=.
apply: sum_le_more => i; first exact: D_ge0.
move=> i_pre; rewrite /mis (preceded_misordered _ _ i_pre) andbT.
by move: i_pre; rewrite inE => /andP[].
Qed.

(* The loss of one level is at most the sum over the documents of it that a less
   relevant one precedes. *)
Lemma level_DCG (rk : 'I_m -> 'I_m) l : convex D -> injective rk ->
  \sum_(i in level l) (D (pos i) - D (rk i))
    <= \sum_(i in preceded rk (level l))
        (D (pos i) - D (pos i + (m - #|level l|))%N).
Proof.
move=> D_convex rk_inj; pose h c := D c - D (c + (m - #|level l|))%N.
rewrite level_DCG_lost //.
apply: (level_loss rk_inj (h := h) _ pos_inj (@pos_level_lt l)).
- by move=> a b; apply: D_convex.
- by move=> i _; apply: lost_le0.
move=> i _; rewrite /lost /h ler_add2l ler_opp2 D_decreases //.
by rewrite (rank_split (level l) rk_inj) leq_add2l others_le.
Qed.

Theorem NDCG_loss_at_most_weights : convex D -> loss_at_most_weights NDCG_round.
Proof.
move=> D_convex s /=; rewrite /NDCG_loss; case: ifP => [_|/negbT Z_neq0].
  by apply: sumr_ge0 => i _; apply: v_NDCG_ge0.
have [rank_inj _] := ranked s.
have Z_gt0 : 0 < Z by rewrite lt_def Z_neq0 Z_ge0.
rewrite NDCG_loss_by_levels // /v_NDCG -mulr_sumr ler_pmul2l ?invr_gt0 //.
under [X in _ <= X]eq_bigr => i _ do rewrite
  (big_ord_widen top (fun l => (G l.+1 - G l)
    * (D (pos i) - D (pos i + (m - #|level l|))%N)) (label_le i)).
rewrite (exchange_big_dep xpredT) //=; apply: ler_sum => l _.
rewrite -mulr_sumr ler_wpmul2l ?G_step_ge0 //.
apply: le_trans (level_DCG l D_convex rank_inj) _.
apply: sum_le_more => i; first exact: D_step_ge0.
move=> i_pre; rewrite (preceded_misordered _ _ i_pre) /=.
by move: i_pre; rewrite !inE => /andP[].
Qed.

Lemma v_NDCG_sum : \sum_i v_NDCG i <= 1.
Proof.
have le_Z : \sum_i v_NDCG i <= Z^-1 * Z.
  rewrite -mulr_sumr ler_wpmul2l ?invr_ge0 ?Z_ge0 //; apply: ler_sum => i _.
  rewrite G_steps mulr_suml; apply: ler_sum => l _.
  by rewrite ler_wpmul2l ?G_step_ge0 // ler_subl_addr ler_addl D_ge0.
apply: le_trans le_Z _; case: (eqVneq Z 0) => [->|Z_neq0].
  by rewrite mulr0 ler01.
by rewrite mulVf.
Qed.

(* The weights (9) of the paper, for positions from 0, where low is the lowest
   label: they are at least v*, and their sum is at most 1 as well. *)
Variable low : nat.
Hypothesis low_le : forall i, (low <= label i)%N.

Definition v_printed i : R :=
  (G (label i) - G low) * (D (pos i) - D m.-1) / Z.

Definition printed_round :=
  Round x label v_printed k (fun s => NDCG_loss (rank s)).

Lemma level_size l : (#|level l| <= m)%N.
Proof. by rewrite -[X in (_ <= X)%N]card_ord max_card. Qed.

Lemma v_NDCG_le i : v_NDCG i <= v_printed i.
Proof.
have m_gt0 : (0 < m)%N := leq_ltn_trans (leq0n i) (ltn_ord i).
rewrite /v_printed mulrC ler_wpmul2l ?invr_ge0 ?Z_ge0 //.
have -> : G (label i) - G low
    = \sum_(l < label i | (low <= l)%N) (G l.+1 - G l).
  rewrite -(big_geq_mkord low (label i) xpredT (fun l => G l.+1 - G l)).
  by rewrite telescope_sumr.
rewrite (bigID (fun l : 'I_(label i) => (low <= l)%N)) /= mulr_suml.
rewrite [X in _ + X]big1 ?addr0 => [|l].
  apply: ler_sum => l _; rewrite ler_wpmul2l ?G_step_ge0 //.
  rewrite ler_add2l ler_opp2 D_decreases // -ltnS prednK //.
  rewrite -[X in (_ < X)%N](subnKC (level_size l)) ltn_add2r pos_level_lt //.
  by rewrite inE.
rewrite -ltnNge => l_lt; rewrite (_ : level l = setT).
  by rewrite cardsT card_ord subnn addn0 subrr mulr0.
by apply/setP => j; rewrite !inE (leq_trans l_lt).
Qed.

Lemma v_printed_ge0 i : 0 <= v_printed i.
Proof. exact: le_trans (v_NDCG_ge0 i) (v_NDCG_le i). Qed.

(* For these weights, D need not be convex either: the document at any rank has
   at least the discount of the last rank. *)
Lemma level_DCG_printed (rk : 'I_m -> 'I_m) l : injective rk ->
  \sum_(i in level l) (D (pos i) - D (rk i))
    <= \sum_(i in preceded rk (level l)) (D (pos i) - D m.-1).
Proof.
move=> rk_inj; rewrite level_DCG_lost //.
apply: (level_loss rk_inj (h := fun c => D c - D m.-1)) => // [a b ab||i _|i _].
- by rewrite ler_add2r D_decreases.
- exact: pos_level_lt.
- exact: lost_le0.
rewrite ler_add2l ler_opp2 D_decreases // -ltnS prednK //.
exact: leq_ltn_trans (leq0n i) (ltn_ord i).
Qed.

(* The gains above that of the lowest label. All of a list is in the levels
   below it, where nothing can be lost. *)
Let G_above l := G (maxn l low) - G low.

Lemma G_above_increases l : G_above l <= G_above l.+1.
Proof.
rewrite ler_add2r.
apply: (homo_leq (@lexx _ R) (@le_trans _ R) (@G_increases _ G)).
by rewrite geq_max !leq_max leqnSn leqnn orbT.
Qed.

Lemma DCG_lost_above (rk : 'I_m -> 'I_m) : injective rk ->
  Z - DCG rk = \sum_i G_above (label i) * (D (pos i) - D (rk i)).
Proof.
move=> rk_inj; have same : \sum_i D (pos i) = \sum_i D (rk i).
  have sum_D (p : 'I_m -> 'I_m) : injective p ->
      \sum_i D (p i) = \sum_(c < m) D c.
    by move=> p_inj; rewrite [RHS](reindex_inj p_inj).
  by rewrite !sum_D.
have -> : Z - DCG rk
    = \sum_i (G_above (label i) + G low) * (D (pos i) - D (rk i)).
  rewrite -sumrB; apply: eq_bigr => i _.
  by rewrite -mulrBr subrK (maxn_idPl (low_le i)).
under eq_bigr do rewrite mulrDl.
by rewrite big_split /= -[X in _ + X]mulr_sumr sumrB same subrr mulr0 addr0.
Qed.

Theorem printed_loss_at_most_weights : loss_at_most_weights printed_round.
Proof.
move=> s /=; rewrite /NDCG_loss; case: ifP => [_|/negbT Z_neq0].
  by apply: sumr_ge0 => i _; apply: v_printed_ge0.
have [rank_inj _] := ranked s.
have Z_gt0 : 0 < Z by rewrite lt_def Z_neq0 Z_ge0.
rewrite -(divff Z_neq0) -mulrBl DCG_lost_above // /v_printed -mulr_suml.
rewrite ler_pmul2r ?invr_gt0 //.
pose mis i := misordered (r := printed_round) s i.
pose f i := if mis i then D (pos i) - D m.-1 else 0.
have last_le i : 0 <= D (pos i) - D m.-1.
  have m_gt0 : (0 < m)%N := leq_ltn_trans (leq0n i) (ltn_ord i).
  by rewrite subr_ge0 D_decreases // -ltnS prednK.
have -> : \sum_(i | mis i) (G (label i) - G low) * (D (pos i) - D m.-1)
    = \sum_i G_above (label i) * f i.
  rewrite big_mkcond; apply: eq_bigr => i _; rewrite /f /G_above.
  by case: ifP; rewrite ?mulr0 // (maxn_idPl (low_le i)).
have G_above0 : G_above 0 = 0 by rewrite /G_above max0n subrr.
rewrite !(gain_by_levels _ G_above0); apply: ler_sum => l _.
rewrite ler_wpmul2l ?subr_ge0 ?G_above_increases //.
apply: le_trans (level_DCG_printed l rank_inj) _.
rewrite big_mkcond [X in _ <= X]big_mkcond; apply: ler_sum => i _; rewrite /f.
case: ifP => [i_pre|_]; last by do 2?case: ifP.
rewrite /mis (preceded_misordered _ _ i_pre).
by move: i_pre; rewrite inE => /andP[->].
Qed.

Lemma v_printed_sum : \sum_i v_printed i <= 1.
Proof.
have le_Z : \sum_i v_printed i <= Z * Z^-1.
  rewrite -mulr_suml ler_wpmul2r ?invr_ge0 ?Z_ge0 //; apply: ler_sum => i _.
  have m_gt0 : (0 < m)%N := leq_ltn_trans (leq0n i) (ltn_ord i).
  rewrite ler_pmul ?ler_subl_addr ?ler_addl ?G_ge0 ?D_ge0 // subr_ge0.
    by apply: (homo_leq (@lexx _ R) (@le_trans _ R) (@G_increases _ G)).
  by rewrite D_decreases // -ltnS prednK.
apply: le_trans le_Z _; case: (eqVneq Z 0) => [->|Z_neq0].
  by rewrite mul0r ler01.
by rewrite mulfV.
Qed.

(* So these rounds are well-formed, if k is as it should be. *)
Lemma AP_well_formed : best_less AP_round -> well_formed AP_round.
Proof. by split; [exact: v_MAP_ge0 | exact: v_MAP_sum |]. Qed.

Lemma NDCG_well_formed : best_less NDCG_round -> well_formed NDCG_round.
Proof. by split; [exact: v_NDCG_ge0 | exact: v_NDCG_sum |]. Qed.

Lemma cut_well_formed : best_less cut_round -> well_formed cut_round.
Proof. by split; [exact: v_cut_ge0 | exact: v_cut_sum |]. Qed.

Lemma printed_well_formed :
  best_less printed_round -> well_formed printed_round.
Proof. by split; [exact: v_printed_ge0 | exact: v_printed_sum |]. Qed.

End Ranking.

(* ------------------------------------------------------------------------- *)
(* Both theorems for 1 - AP and 1 - NDCG *)

Section Measures.

Variables (R : realFieldType) (E : space R) (G : gain R) (D : discount R).

(* The ranking loss 1 - AP with the weights (6); 1 - NDCG with the tightest
   weights, v*, or with those of (9); 1 - NDCG@K with those of (31) *)
Inductive weights := AP_6 | NDCG_star | NDCG_9 | NDCG_31 of nat.

(* A round with this ranking loss and these weights *)
Inductive round_with : weights -> round E -> Prop :=
| with_AP m x label k rank (pos : 'I_m -> 'I_m) of
    ranks rank & injective pos
    & (forall i, i \in level label 0 -> (pos i < #|level label 0|)%N)
    & best_less (@AP_round R E m x label k rank pos) :
    round_with AP_6 (AP_round x label k rank pos)
| with_NDCG m x label k rank (pos : 'I_m -> 'I_m) of
    convex D & ranks rank & injective pos & falling label pos
    & best_less (@NDCG_round R E m x label k rank pos G D) :
    round_with NDCG_star (NDCG_round x label k rank pos G D)
| with_printed m x label k rank (pos : 'I_m -> 'I_m) low of
    ranks rank & injective pos & falling label pos
    & (forall i, low <= label i)%N
    & best_less (@printed_round R E m x label k rank pos G D low) :
    round_with NDCG_9 (printed_round x label k rank pos G D low)
| with_NDCG_at m x label k rank (pos : 'I_m -> 'I_m) K of
    ranks rank & injective pos & falling label pos
    & best_less (@cut_round R E m x label k rank pos G (cut D K)) :
    round_with (NDCG_31 K) (cut_round x label k rank pos G (cut D K)).

Definition slam_round r := exists weights, round_with weights r.

Lemma round_with_ok weights r : round_with weights r ->
  [/\ well_formed r, loss_at_most_weights r
    & forall s : 'I_(m r) -> R, 0 <= RML s].
Proof.
case=> {weights r} m x label k rank pos.
- move=> ranked pos_inj pos_lt best; split; first exact: AP_well_formed.
    exact: AP_loss_at_most_weights.
  by move=> s; apply: AP_loss_ge0; case: (ranked s).
- move=> D_convex ranked pos_inj pos_falling best; split.
  + exact: NDCG_well_formed.
  + exact: NDCG_loss_at_most_weights.
  by move=> s; apply: NDCG_loss_ge0 => //; case: (ranked s).
- move=> low ranked pos_inj pos_falling low_le best; split.
  + exact: printed_well_formed.
  + exact: printed_loss_at_most_weights.
  by move=> s; apply: NDCG_loss_ge0 => //; case: (ranked s).
move=> K ranked pos_inj pos_falling best; split.
- exact: cut_well_formed.
- exact: cut_loss_at_most_weights.
by move=> s; apply: NDCG_loss_ge0 => //; case: (ranked s).
Qed.

Lemma slam_round_ok r : slam_round r -> well_formed r /\ loss_at_most_weights r.
Proof. by case=> weights /round_with_ok[]. Qed.

(* Every list of documents with labels makes such rounds, with some order of
   equal scores. *)
Theorem slam_rounds_exist m (x : 'I_m -> E) (label : 'I_m -> nat) K :
  exists k rank pos,
    [/\ round_with AP_6 (AP_round x label k rank pos),
        convex D -> round_with NDCG_star (NDCG_round x label k rank pos G D),
        round_with NDCG_9 (printed_round x label k rank pos G D 0)
      & round_with (NDCG_31 K) (cut_round x label k rank pos G (cut D K))].
Proof.
have [k [best _]] := best_less_exists x label (fun=> 0) (fun=> 0).
have [rank ranked] := ranks_exist R m.
have [pos_inj by_label] := ranked (fun i => (label i)%:R).
have pos_falling : falling label (rank (fun i => (label i)%:R)).
  by move=> i j lt; apply: by_label; rewrite ltr_nat.
have pos_lt i : i \in level label 0 ->
    (rank (fun i => (label i)%:R) i < #|level label 0|)%N.
  exact: pos_level_lt.
by exists k, rank, (rank (fun i => (label i)%:R)); split=> *; constructor.
Qed.

(* Theorems 2 and 3 of the paper, and the same for NDCG@k: SLAM with these
   weights is at least 1 - AP and 1 - NDCG, for all lists, scores and orders of
   equal scores. *)
Theorem slam_loss_at_least_ranking_loss (r : round E) :
  slam_round r -> forall s : 'I_(m r) -> R, RML s <= slam_loss s.
Proof.
move=> /slam_round_ok[[v_ge0 _ _] loss_le] s.
exact: le_trans (loss_le s) (slam_loss_ge_misordered s v_ge0).
Qed.

Variables (eta : R) (X : nat -> round E) (T : nat) (Delta : R).
Hypothesis eta_gt0 : 0 < eta.
Hypothesis rounds_ok : forall t, (t < T)%N -> slam_round (X t).
Hypothesis dist : distances_at_most Delta X T.

Let ok : well_formed_rounds X T.
Proof. by move=> t /rounds_ok/slam_round_ok[]. Qed.

Let loss_le t : (t < T)%N -> loss_at_most_weights (X t).
Proof. by move=> /rounds_ok/slam_round_ok[]. Qed.

Theorem theorem_1_for_AP_and_NDCG (u : E) :
  total_RML algorithm_1 eta X T
    <= 2%:R * F algorithm_1 eta X u T + norm2 u * (2%:R / eta + Delta ^+ 2).
Proof.
have [N_le RML_le] := theorem_1 eta_gt0 ok dist u.
exact: le_trans (RML_le loss_le) N_le.
Qed.

Theorem theorem_2_for_AP_and_NDCG (u : E) :
  total_RML algorithm_2 eta X T
    <= 2%:R * F algorithm_2 eta X u T + norm2 u * Delta ^+ 2.
Proof.
have [N_le RML_le] := theorem_2 eta_gt0 ok dist u.
exact: le_trans (RML_le loss_le) N_le.
Qed.

(* Both statements of the claim: R_X is at least the norm of every document,
   and a unit vector separates documents of different labels by gamma. *)
Variable R_X : R.
Hypothesis norms :
  forall t, (t < T)%N -> forall i : 'I_(m (X t)), norm2 (x i) <= R_X ^+ 2.

Let four_R_X (a : R) : a * (2%:R * R_X) ^+ 2 = 4%:R * a * R_X ^+ 2.
Proof. by rewrite exprMn -natrX mulrCA mulrA. Qed.

Theorem theorem_2_with_norms (u : E) :
  total_RML algorithm_2 eta X T
    <= 2%:R * F algorithm_2 eta X u T + 4%:R * norm2 u * R_X ^+ 2.
Proof.
have [N_le RML_le] := theorem_2 eta_gt0 ok (distances_of_norms norms) u.
by rewrite -four_R_X; apply: le_trans (RML_le loss_le) N_le.
Qed.

Theorem separable_for_AP_and_NDCG (gamma : R) (u1 : E) :
  norm2 u1 = 1 -> 0 < gamma ->
  (forall t, (t < T)%N -> forall i j : 'I_(m (X t)),
     less j i -> gamma <= dot (x i - x j) u1) ->
  total_RML algorithm_2 eta X T <= 4%:R * R_X ^+ 2 / gamma ^+ 2.
Proof.
move=> unit gamma_gt0 apart.
rewrite -[4%:R]mulr1 -four_R_X mul1r.
exact: (separable eta_gt0 ok (distances_of_norms norms) unit gamma_gt0 apart).
Qed.

End Measures.
