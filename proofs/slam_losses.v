(* Section 3 of `slam`, and Theorems 2 and 3 of its section 4: the surrogate
   SLAM, and the weights with which it is at least 1 - AP, 1 - NDCG or
   1 - NDCG@k, for lists of any length, all scores, any number of grades and
   every order of equal scores.

   Ranks and positions are counted from 0 here, and from 1 in the paper.

   Contents
     The surrogate         equations (3) and (5), Lemma 1
     Average precision     the weights (6), Theorem 2, and in which sense they
                           are tight
     NDCG                  the weights (9), Theorem 3 for every discount that
                           decreases, and the weights (31)

   The file wrong_neighbours_of_slam.v proves that equation (8) is false, and
   that smaller weights do not do.
*)

From mathcomp Require Import all_ssreflect all_algebra ring.
From formal Require Import perceptron_bound ranking_loss.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* ------------------------------------------------------------------------- *)
(* The surrogate *)

Section Surrogate.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat).
Implicit Types (s v delta : 'I_m -> R) (i j : 'I_m) (rk : 'I_m -> 'I_m).

(* The inner maximum of (5), with the margin 1; it is 0 if there is no less
   relevant document. *)
Definition worst_hinge s i : R :=
  \big[Num.max/0]_(j | (label j < label i)%N) (1 + s j - s i).

(* Equation (5) *)
Definition SLAM v s : R := \sum_i v i * worst_hinge s i.

(* The constraints of the linear programme (3) *)
Definition feasible s delta :=
  (forall i, 0 <= delta i)
  /\ forall i j, (label j < label i)%N -> 1 + s j <= s i + delta i.

(* The same list as a round of perceptron_bound.v, where documents do not
   matter *)
Definition as_round v RML : round (Rd R 0) :=
  Round (fun=> 0) label v (fun=> id) RML.

Lemma SLAM_as_round v RML s : SLAM v s = slam_loss (r := as_round v RML) s.
Proof. by []. Qed.

Lemma worst_hinge_ge0 s i : 0 <= worst_hinge s i.
Proof. exact: (@hinge_ge0 _ _ (as_round s (fun=> 0))). Qed.

Lemma worst_hinge_ge s i j :
  (label j < label i)%N -> 1 + s j - s i <= worst_hinge s i.
Proof. exact: (@hinge_ge _ _ (as_round s (fun=> 0))). Qed.

Lemma worst_hinge_le s i a :
  0 <= a -> (forall j, (label j < label i)%N -> 1 + s j - s i <= a) ->
  worst_hinge s i <= a.
Proof.
move=> a_ge0 le_a; apply: (big_ind (fun b => b <= a)) => // b c.
by rewrite le_maxl => -> ->.
Qed.

(* The linear programme (3) has the minimum (5). *)
Theorem slam_equations_3_and_5 v s : (forall i, 0 <= v i) ->
  (exists2 delta, feasible s delta & \sum_i v i * delta i = SLAM v s)
  /\ (forall delta, feasible s delta -> SLAM v s <= \sum_i v i * delta i).
Proof.
move=> v_ge0; split.
  exists (worst_hinge s) => //; split=> [i|i j ji]; first exact: worst_hinge_ge0.
  by rewrite -ler_subl_addl worst_hinge_ge.
move=> delta [delta_ge0 constraint]; apply: ler_sum => i _.
rewrite ler_wpmul2l //; apply: worst_hinge_le => // j ji.
by rewrite ler_subl_addl constraint.
Qed.

(* Lemma 1 *)
Theorem slam_lemma_1 v s s' a : (forall i, 0 <= v i) -> 0 <= a <= 1 ->
  SLAM v (fun i => a * s i + (1 - a) * s' i)
    <= a * SLAM v s + (1 - a) * SLAM v s'.
Proof.
move=> v_ge0 /andP[a_ge0 a_le1].
have b_ge0 : 0 <= 1 - a by rewrite subr_ge0.
rewrite /SLAM !mulr_sumr -big_split; apply: ler_sum => i _ /=.
rewrite mulrCA [(1 - a) * _]mulrCA -mulrDr ler_wpmul2l //.
apply: worst_hinge_le => [|j ji].
  by rewrite addr_ge0 // mulr_ge0 // worst_hinge_ge0.
have -> : 1 + (a * s j + (1 - a) * s' j) - (a * s i + (1 - a) * s' i)
    = a * (1 + s j - s i) + (1 - a) * (1 + s' j - s' i) by ring.
by rewrite ler_add // ler_wpmul2l // worst_hinge_ge.
Qed.

(* What has a larger score stands above in the ranking rk; equal scores may
   stand in any order. *)
Definition sorts s rk :=
  injective rk /\ forall i j, s j < s i -> (rk i < rk j)%N.

(* Such a ranking is one of those by a rule for all scores. *)
Lemma rule_through s rk : sorts s rk -> exists2 rank, ranks rank & rank s = rk.
Proof.
move=> [rk_inj rk_sorts]; have [rank0 ranked0] := ranks_exist R m.
exists (fun s' => if [forall i, s' i == s i] then rk else rank0 s').
  move=> s'; case: ifP => [/forallP same|_]; last exact: ranked0.
  by split=> // i j; rewrite (eqP (same i)) (eqP (same j)); apply: rk_sorts.
by case: ifP => // /forallP[] i.
Qed.

(* The hinges of misordered documents are at least 1. *)
Lemma SLAM_ge_misordered v RML s : (forall i, 0 <= v i) ->
  \sum_(i | misordered (r := as_round v RML) s i) v i <= SLAM v s.
Proof.
move=> v_ge0; rewrite /SLAM big_mkcond; apply: ler_sum => i _.
case: ifP => [/existsP[j /andP[ji s_le]]|_].
  rewrite ler_pemulr //; apply: le_trans (worst_hinge_ge s ji).
  by rewrite -addrA ler_addl subr_ge0.
by rewrite mulr_ge0 ?worst_hinge_ge0.
Qed.

(* At equal scores every document with a less relevant one has the hinge 1. *)
Lemma SLAM_at_equal_scores v :
  SLAM v (fun=> 0) = \sum_(i | [exists j, (label j < label i)%N]) v i.
Proof.
rewrite /SLAM [RHS]big_mkcond; apply: eq_bigr => i _.
have hinge1 j : (1 + 0 - 0 : R) = 1 by rewrite addr0 subr0.
case: ifP => [/existsP[j ji]|/negbT none].
  suff -> : worst_hinge (fun=> 0) i = 1 by rewrite mulr1.
  apply/eqP; rewrite eq_le worst_hinge_le ?ler01 => [|//|j' _] /=.
    by have := worst_hinge_ge (fun=> 0) ji; rewrite hinge1.
  by rewrite hinge1.
suff -> : worst_hinge (fun=> 0) i = 0 by rewrite mulr0.
apply/eqP; rewrite eq_le worst_hinge_ge0 andbT worst_hinge_le // => j ji.
by case/negP: none; apply/existsP; exists j.
Qed.

End Surrogate.

(* ------------------------------------------------------------------------- *)
(* Average precision *)

Section AveragePrecision.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat).
Implicit Types (s v : 'I_m -> R) (rk : 'I_m -> 'I_m).

(* The documents with the label 1, or more; r of them *)
Let relevant := level label 0.
Let r := #|relevant|.

(* The numbers of the documents, with those that are relevant first *)
Variable pos : 'I_m -> 'I_m.
Hypothesis pos_inj : injective pos.
Hypothesis relevant_first : forall i, i \in relevant -> (pos i < r)%N.

(* The weights (6); the number i of the paper is (pos i).+1. *)
Definition v_6 i : R :=
  if (pos i < r)%N
  then r%:R^-1 - (pos i).+1%:R / (r%:R * (m - r + (pos i).+1)%:R) else 0.

Lemma positions : pos @: relevant = first m r.
Proof.
apply/eqP; rewrite eqEcard; apply/andP; split.
  by apply/subsetP => c /imsetP[i i_rel ->]; rewrite inE relevant_first.
rewrite (card_imset _ pos_inj) card_first // /r.
by rewrite -[X in (_ <= X)%N]card_ord max_card.
Qed.

Lemma relevant_pos i : (i \in relevant) = (pos i < r)%N.
Proof.
apply/idP/idP => [|pos_lt]; first exact: relevant_first.
have : pos i \in first m r by rewrite inE.
by rewrite -positions => /imsetP[j j_rel /pos_inj->].
Qed.

Lemma v_6_fraction c : (0 < r)%N ->
  r%:R^-1 - c.+1%:R / (r%:R * (m - r + c.+1)%:R)
    = (m - r)%:R / (r%:R * (m - r + c.+1)%:R) :> R.
Proof.
move=> r_gt0; have r_neq0 : r%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have sum_neq0 : (m - r)%:R + (1 + c%:R) != 0 :> R.
  by rewrite -mulrS -natrD pnatr_eq0 addnS.
by rewrite natrD; field; rewrite sum_neq0.
Qed.

Lemma v_6_v_MAP i : v_6 i = v_MAP R label pos i.
Proof.
rewrite /v_6 /v_MAP -/relevant relevant_pos; case: ifP => // pos_lt.
exact: v_6_fraction (leq_ltn_trans _ pos_lt).
Qed.

Lemma v_6_ge0 i : 0 <= v_6 i.
Proof. by rewrite v_6_v_MAP v_MAP_ge0. Qed.

(* After Theorem 3: the sum of the weights is at most 1. *)
Theorem slam_sum_of_weights_6 : \sum_i v_6 i <= 1.
Proof. by under eq_bigr do rewrite v_6_v_MAP; apply: v_MAP_sum. Qed.

(* Theorem 2: SLAM with the weights (6) is at least 1 - AP. *)
Theorem slam_theorem_2 s rk :
  sorts s rk -> AP_loss R label rk <= SLAM label v_6 s.
Proof.
move=> /rule_through[rank ranked <-].
have loss_le : loss_at_most_weights
    (AP_round (fun=> 0 : Rd R 0) label (fun=> id) rank pos).
  exact: AP_loss_at_most_weights.
apply: le_trans (loss_le s) _; under eq_bigr do rewrite /= -v_6_v_MAP.
exact: (SLAM_ge_misordered label (fun=> 0) s v_6_ge0).
Qed.

(* The weights for which SLAM is at least 1 - AP for all scores and orders of
   equal ones, the set F(R) of the paper *)
Definition valid_for_AP v :=
  (forall i, 0 <= v i)
  /\ forall s rk, sorts s rk -> AP_loss R label rk <= SLAM label v s.

(* The reversed order, in which all irrelevant documents stand above the
   relevant ones; equal scores may stand in it. *)
Definition reversed i := rev_ord (pos i).

Lemma reversed_sorts : sorts (fun=> 0 : R) reversed.
Proof.
split; first exact: inj_comp rev_ord_inj pos_inj.
by move=> i j; rewrite ltxx.
Qed.

Lemma reversed_others i : i \in relevant -> others reversed relevant i = (m - r)%N.
Proof.
move=> i_rel; rewrite -[X in (X - _)%N]card_ord -(cardsC relevant) addKn.
apply: eq_card => j; rewrite !inE; apply: andb_idr => j_irr.
have pos_lt : (pos i < pos j)%N.
  apply: leq_trans (relevant_first i_rel) _; rewrite leqNgt -relevant_pos.
  by rewrite inE.
by rewrite /= -subSn ?ltn_ord // subSS leq_sub2l.
Qed.

Lemma reversed_loss : AP_loss R label reversed = \sum_i v_6 i.
Proof.
have [reversed_inj _] := reversed_sorts.
rewrite /AP_loss -/relevant -/r; case: eqP => [r0|/eqP r_neq0].
  by rewrite big1 // => i _; rewrite /v_6 r0.
have r_gt0 : (0 < r)%N by rewrite lt0n.
pose h c : R := (m - r)%:R / (r%:R * (m - r + c.+1)%:R).
have -> : \sum_i v_6 i = \sum_(c in first m r) h c.
  rewrite -positions (big_imset _ (in2W pos_inj)) /= [RHS]big_mkcond.
  by apply: eq_bigr => i _; rewrite /v_6 -relevant_pos v_6_fraction.
rewrite -(sum_places relevant reversed_inj) mulr_sumr.
rewrite [X in X - _](_ : 1 = \sum_(i in relevant) r%:R^-1); last first.
  by rewrite sumr_const -/r -[_ *+ r]mulr_natr mulVf // pnatr_eq0.
rewrite -sumrB; apply: eq_bigr => i i_rel; rewrite /h -v_6_fraction //.
rewrite (rank_split relevant reversed_inj) (reversed_others i_rel) addnC -addnS.
by rewrite invfM [_ * (_ / _)]mulrCA.
Qed.

(* After equation (8): no weights of this kind have a smaller sum, so that none
   lie below those of (6). *)
Theorem slam_weights_6_have_the_least_sum v :
  valid_for_AP v -> \sum_i v_6 i <= \sum_(i in relevant) v i.
Proof.
move=> [v_ge0 valid]; rewrite -reversed_loss.
apply: le_trans (valid _ _ reversed_sorts) _; rewrite SLAM_at_equal_scores.
apply: sum_le_more => // i /existsP[j ji].
by rewrite inE (leq_ltn_trans (leq0n _) ji).
Qed.

Theorem slam_weights_6_are_not_dominated v :
  valid_for_AP v -> (forall i, v i <= v_6 i) -> v =1 v_6.
Proof.
move=> valid below i; apply/eqP; rewrite eq_le below /= leNgt; apply/negP => lt_i.
have := slam_weights_6_have_the_least_sum valid.
have [v_ge0 _] := valid.
have v_le : \sum_(j in relevant) v j <= \sum_j v j.
  by apply: sum_le_more.
move=> /le_trans/(_ v_le); apply/negP; rewrite -ltNge.
rewrite (bigD1 i) // [X in _ < X](bigD1 i) //= ltr_le_add //.
by apply: ler_sum => j _; apply: below.
Qed.

End AveragePrecision.

(* ------------------------------------------------------------------------- *)
(* NDCG *)

(* The gain 2^l - 1 of the paper is 0 for the label 0, and increases. *)
Theorem gain_of_the_paper (R : realFieldType) : let G l : R := 2%:R ^+ l - 1 in
  G 0%N = 0 /\ forall l, G l <= G l.+1.
Proof.
split=> [|l]; first by rewrite expr0 subrr.
by rewrite ler_add2r exprS ler_pemull ?ler1n // exprn_ge0 ?ler0n.
Qed.

Section NDCG.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat).
Implicit Types (s v : 'I_m -> R) (rk : 'I_m -> 'I_m).

(* The gain G and the discount D, of which no more is assumed than that the gain
   increases, and that the discount decreases and is at least 0 *)
Variables G D : nat -> R.
Hypothesis G0 : G 0 = 0.
Hypothesis G_increases : forall l, G l <= G l.+1.
Hypothesis D_ge0 : forall c, 0 <= D c.
Hypothesis D_decreases : forall a b, (a <= b)%N -> D b <= D a.

(* The numbers of the documents, by falling label *)
Variable pos : 'I_m -> 'I_m.
Hypothesis pos_inj : injective pos.
Hypothesis pos_falling : falling label pos.

(* Z(R), the largest DCG of a ranking, is that of the order by falling label. *)
Let Z := DCG label G D pos.

Theorem ideal_DCG rk : injective rk -> DCG label G D rk <= Z.
Proof.
move=> rk_inj; rewrite -subr_ge0 -sumrB; under eq_bigr do rewrite -mulrBr.
rewrite (by_levels _ G0) sumr_ge0 // => l _; rewrite mulr_ge0 ?subr_ge0 //.
rewrite level_DCG_lost // sumr_ge0 // => i _; rewrite subr_ge0 D_decreases //.
by rewrite (rank_split (level label l) rk_inj) leq_addr.
Qed.

(* The weights (9); low is the label R_m of the last document, or a smaller
   one. *)
Definition v_9 low i : R :=
  (G (label i) - G low) * (D (pos i) - D m.-1) / Z.

Lemma v_9_v_printed low i : v_9 low i = v_printed label pos G D low i.
Proof. by rewrite /v_9 mulrC. Qed.

(* After Theorem 3: the sum of the weights is at most 1. *)
Theorem slam_sum_of_weights_9 low :
  (forall i, low <= label i)%N -> \sum_i v_9 low i <= 1.
Proof.
move=> low_le; under eq_bigr do rewrite v_9_v_printed.
exact: v_printed_sum.
Qed.

(* Theorem 3: SLAM with the weights (9) is at least 1 - NDCG. *)
Theorem slam_theorem_3 low s rk : (forall i, low <= label i)%N ->
  sorts s rk -> NDCG_loss label pos G D rk <= SLAM label (v_9 low) s.
Proof.
move=> low_le /rule_through[rank ranked <-].
have v_ge0 i : 0 <= v_9 low i by rewrite v_9_v_printed v_printed_ge0.
have loss_le : loss_at_most_weights
    (printed_round (fun=> 0 : Rd R 0) label (fun=> id) rank pos G D low).
  exact: printed_loss_at_most_weights.
apply: le_trans (loss_le s) _; under eq_bigr do rewrite /= -v_9_v_printed.
exact: (SLAM_ge_misordered label (fun=> 0) s v_ge0).
Qed.

(* NDCG@K is NDCG with the discount 0 from rank K on. These are the weights (31)
   of section 7.10 for it. *)
Variable K : nat.
Let D_K := cut D K.
Let Z_K := DCG label G D_K pos.

Definition v_31 i : R :=
  if (pos i < K)%N then G (label i) * D (pos i) / Z_K else 0.

Lemma v_31_v_cut i : v_31 i = v_cut label pos G D_K i.
Proof.
rewrite /v_31 /v_cut /D_K /cut; case: ifP => _; last by rewrite !mulr0.
by rewrite mulrC.
Qed.

Lemma v_31_ge0 i : 0 <= v_31 i.
Proof. by rewrite v_31_v_cut v_cut_ge0 // => c; apply: cut_ge0. Qed.

(* Section 5.1: their sum is 1, if the list has a gain at all. *)
Theorem slam_sum_of_weights_31 : Z_K != 0 -> \sum_i v_31 i = 1.
Proof.
move=> Z_neq0; under eq_bigr do rewrite v_31_v_cut.
by rewrite -mulr_sumr mulVf.
Qed.

(* Section 5.1, before Corollary 7: SLAM with the weights (31) is at least
   1 - NDCG@K. *)
Theorem slam_weights_31 s rk :
  sorts s rk -> NDCG_loss label pos G D_K rk <= SLAM label v_31 s.
Proof.
move=> /rule_through[rank ranked <-].
have loss_le : loss_at_most_weights
    (cut_round (fun=> 0 : Rd R 0) label (fun=> id) rank pos G D_K).
  apply: cut_loss_at_most_weights => //; first exact: cut_ge0.
  exact: cut_decreases.
apply: le_trans (loss_le s) _; under eq_bigr do rewrite /= -v_31_v_cut.
exact: (SLAM_ge_misordered label (fun=> 0) s v_31_ge0).
Qed.

End NDCG.
