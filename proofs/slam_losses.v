(* Section 3 of `slam`, and Theorems 2 and 3 of its section 4: the surrogate
   SLAM, and the weights with which it is at least 1 - AP, 1 - NDCG or
   1 - NDCG@k, for lists of any length, all scores, any number of grades and
   every order of equal scores.

   Ranks and positions are counted from 0 here, and from 1 in the paper.

   Contents
     The surrogate         equations (3) and (5), Lemma 1, the gradient
     Average precision     the weights (6), Theorem 2, and in which sense they
                           are tight
     NDCG                  the weights (9), Theorem 3 for every discount that
                           decreases, and the weights (31)

   The file wrong_neighbours_of_slam.v proves that equation (8) is false, and
   that smaller weights do not do.
*)

From formal Require Import library perceptron_bound ranking_loss.

(* ------------------------------------------------------------------------- *)
(* The surrogate *)

Section Surrogate.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat) (margin : R).
Implicit Types (s v delta : 'I_m -> R) (i j : 'I_m).

(* The constraints of the linear programme (3), with any margin *)
Definition feasible s delta :=
  (forall i, 0 <= delta i)
  /\ forall i j, (label j < label i)%N -> margin + s j <= s i + delta i.

(* The linear programme (3) has the minimum (5). *)
Theorem slam_equations_3_and_5 v s : (forall i, 0 <= v i) ->
  (exists2 delta, feasible s delta
     & \sum_i v i * delta i = SLAM_with margin label v s)
  /\ (forall delta, feasible s delta ->
        SLAM_with margin label v s <= \sum_i v i * delta i).
Proof.
move=> v_ge0; split.
  exists (worst_hinge margin label s) => //; split=> [i|i j ji].
    exact: worst_hinge_ge0.
  by rewrite -ler_subl_addl worst_hinge_ge.
move=> delta [delta_ge0 constraint]; apply: ler_sum => i _.
rewrite ler_wpmul2l //; apply: worst_hinge_le => // j ji.
by rewrite ler_subl_addl constraint.
Qed.

(* Lemma 1 *)
Theorem slam_lemma_1 v s s' a : (forall i, 0 <= v i) -> 0 <= a <= 1 ->
  SLAM_with margin label v (fun i => a * s i + (1 - a) * s' i)
    <= a * SLAM_with margin label v s
       + (1 - a) * SLAM_with margin label v s'.
Proof.
move=> v_ge0 /andP[a_ge0 a_le1].
have b_ge0 : 0 <= 1 - a by rewrite subr_ge0.
rewrite /SLAM_with !mulr_sumr -big_split; apply: ler_sum => i _ /=.
rewrite mulrCA [(1 - a) * _]mulrCA -mulrDr ler_wpmul2l //.
apply: worst_hinge_le => [|j ji].
  by rewrite addr_ge0 // mulr_ge0 // worst_hinge_ge0.
have -> : margin + (a * s j + (1 - a) * s' j) - (a * s i + (1 - a) * s' i)
    = a * (margin + s j - s i) + (1 - a) * (margin + s' j - s' i) by ring.
by rewrite ler_add // ler_wpmul2l // worst_hinge_ge.
Qed.

(* Section 6, after equation (24): the l1 norm of the gradient g of SLAM, where it
   has one, or of any subgradient, is at most twice the sum of the weights, and
   so at most 2 for those of the paper. *)
Theorem slam_gradient_l1 v s g : (forall i, 0 <= v i) ->
  (forall s', SLAM_with margin label v s + \sum_i g i * (s' i - s i)
                <= SLAM_with margin label v s') ->
  \sum_i `|g i| <= 2%:R * (\sum_i v i)
  /\ (\sum_i v i <= 1 -> \sum_i `|g i| <= 2%:R).
Proof.
move=> v_ge0 below; pose d i : R := Num.sg (g i).
suff norm_le : \sum_i `|g i| <= 2%:R * \sum_i v i.
  split=> // sum_le1; apply: le_trans norm_le _.
  by rewrite ger_pmulr ?ltr0n.
have := below (fun i => s i + d i).
have -> : \sum_i g i * (s i + d i - s i) = \sum_i `|g i|.
  by apply: eq_bigr => i _; rewrite addrAC subrr add0r mulrC -normrEsg.
suff le2 : SLAM_with margin label v (fun i => s i + d i)
    <= SLAM_with margin label v s + 2%:R * \sum_i v i.
  by move=> /le_trans/(_ le2); rewrite ler_add2l.
rewrite /SLAM_with mulr_sumr -big_split; apply: ler_sum => i _ /=.
rewrite [2%:R * _]mulrC -mulrDr ler_wpmul2l //.
apply: worst_hinge_le => [|j ji].
  by rewrite addr_ge0 ?worst_hinge_ge0 ?ler0n.
have -> : margin + (s j + d j) - (s i + d i)
    = (margin + s j - s i) + (d j - d i) by ring.
rewrite ler_add ?worst_hinge_ge //.
apply: le_trans (ler_norm _) _; apply: le_trans (ler_norm_sub _ _) _.
by rewrite !normr_sg -natrD ler_nat; do 2!case: (_ != 0).
Qed.

End Surrogate.

(* The weights v for which SLAM is at least a ranking loss for all scores and
   orders of equal ones; for 1 - AP the set F(R) of the paper, whose weights are
   at least 0 as all of the family are *)
Section Valid.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat).
Implicit Types (v : 'I_m -> R) (i j : 'I_m).

Definition valid (loss : ('I_m -> 'I_m) -> R) v :=
  (forall i, 0 <= v i)
  /\ forall s rk, sorts s rk -> loss rk <= SLAM label v s.

(* At equal scores every document with a less relevant one has the hinge 1. *)
Lemma SLAM_at_equal_scores v :
  SLAM label v (fun=> 0) = \sum_(i | [exists j, (label j < label i)%N]) v i.
Proof.
rewrite /SLAM_with [RHS]big_mkcond; apply: eq_bigr => i _.
have hinge1 : 1 + 0 - 0 = 1 :> R by rewrite addr0 subr0.
case: ifP => [/existsP[j ji]|/negbT none].
  suff -> : worst_hinge 1 label (fun=> 0 : R) i = 1 by rewrite mulr1.
  apply/eqP; rewrite eq_le worst_hinge_le ?ler01 => [|//|j' _] /=.
    by have := worst_hinge_ge (1 : R) (fun=> 0) ji; rewrite hinge1.
  by rewrite hinge1.
suff -> : worst_hinge 1 label (fun=> 0 : R) i = 0 by rewrite mulr0.
apply/eqP; rewrite eq_le worst_hinge_ge0 andbT worst_hinge_le // => j ji.
by case/negP: none; apply/existsP; exists j.
Qed.

End Valid.

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
Let v_6 := v_MAP R label pos.

Let v_6_ge0 i : 0 <= v_6 i.
Proof. exact: v_MAP_ge0. Qed.

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

(* After Theorem 3: the sum of the weights is at most 1. *)
Theorem slam_sum_of_weights_6 : \sum_i v_6 i <= 1.
Proof. exact: v_MAP_sum. Qed.

(* Theorem 2: SLAM with the weights (6) is at least 1 - AP. *)
Theorem slam_theorem_2 s rk :
  sorts s rk -> AP_loss R label rk <= SLAM label v_6 s.
Proof.
move=> /rule_through[rank ranked <-].
have loss_le : loss_at_most_weights
    (AP_round (fun=> 0 : Rd R 0) label (fun=> id) rank pos).
  exact: AP_loss_at_most_weights.
apply: le_trans (loss_le s) _.
exact: slam_loss_ge_misordered.
Qed.

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
  rewrite big1 // => i _; rewrite /v_6 /v_MAP -/relevant.
  by rewrite [relevant](cards0_eq r0) inE.
have r_gt0 : (0 < r)%N by rewrite lt0n.
pose h c : R := (m - r)%:R / (r%:R * (m - r + c.+1)%:R).
have -> : \sum_i v_6 i = \sum_(c in first m r) h c.
  rewrite -positions (big_imset _ (in2W pos_inj)) /= [RHS]big_mkcond.
  by apply: eq_bigr => i _; rewrite /v_6 v_MAPE.
rewrite -(sum_places relevant reversed_inj) mulr_sumr.
rewrite [X in X - _](_ : 1 = \sum_(i in relevant) r%:R^-1); last first.
  by rewrite sumr_const -/r -[_ *+ r]mulr_natr mulVf // pnatr_eq0.
rewrite -sumrB; apply: eq_bigr => i i_rel; rewrite /h -v_MAP_fraction //.
rewrite (rank_split relevant reversed_inj) (reversed_others i_rel) addnC -addnS.
by rewrite invfM [_ * (_ / _)]mulrCA.
Qed.

(* After equation (8): no valid weights have a smaller sum, whether those of
   irrelevant documents count or not. *)
Theorem slam_weights_6_have_the_least_sum v : valid label (AP_loss R label) v ->
  \sum_i v_6 i <= \sum_(i in relevant) v i <= \sum_i v i.
Proof.
move=> [v_ge0 v_valid]; apply/andP; split; last exact: sum_le_more.
rewrite -reversed_loss; apply: le_trans (v_valid _ _ reversed_sorts) _.
rewrite SLAM_at_equal_scores; apply: sum_le_more => // i /existsP[j ji].
by rewrite inE (leq_ltn_trans (leq0n _) ji).
Qed.

(* So none lie below those of (6). *)
Theorem slam_weights_6_are_not_dominated v : valid label (AP_loss R label) v ->
  (forall i, v i <= v_6 i) -> v =1 v_6.
Proof.
move=> /slam_weights_6_have_the_least_sum/andP[le_v v_le] below i.
apply/eqP; rewrite eq_le below /= leNgt; apply/negP => lt_i.
have := le_trans le_v v_le; apply/negP; rewrite -ltNge.
rewrite (bigD1 i) // [X in _ < X](bigD1 i) //= ltr_le_add //.
by apply: ler_sum => j _; apply: below.
Qed.

End AveragePrecision.

(* ------------------------------------------------------------------------- *)
(* NDCG *)

Section NDCG.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat).
Implicit Types (s v : 'I_m -> R) (rk : 'I_m -> 'I_m).

(* Any gain, and any discount, which need not be convex *)
Variables (G : gain R) (D : discount R).

(* The numbers of the documents, by falling label *)
Variable pos : 'I_m -> 'I_m.
Hypothesis pos_inj : injective pos.
Hypothesis pos_falling : falling label pos.

(* The weights (9) are v_printed; low is the label R_m of the last document, or a
   smaller one. *)
Let v_9 low := v_printed label pos G D low.

(* After Theorem 3: the sum of the weights is at most 1. *)
Theorem slam_sum_of_weights_9 low :
  (forall i, low <= label i)%N -> \sum_i v_9 low i <= 1.
Proof. exact: v_printed_sum. Qed.

(* Theorem 3: SLAM with the weights (9) is at least 1 - NDCG. *)
Theorem slam_theorem_3 low s rk : (forall i, low <= label i)%N ->
  sorts s rk -> NDCG_loss label pos G D rk <= SLAM label (v_9 low) s.
Proof.
move=> low_le /rule_through[rank ranked <-].
have v_ge0 i : 0 <= v_9 low i by apply: v_printed_ge0.
have loss_le : loss_at_most_weights
    (printed_round (fun=> 0 : Rd R 0) label (fun=> id) rank pos G D low).
  exact: printed_loss_at_most_weights.
apply: le_trans (loss_le s) _.
exact: slam_loss_ge_misordered.
Qed.

(* NDCG@K is NDCG with the discount 0 from the rank K on. The weights (31) of
   section 7.10 for it are the terms of Z_K: G(R_i) D(i) / Z_K for the first K
   documents, and 0 for the others. *)
Variable K : nat.
Let D_K := cut D K.
Let Z_K := DCG label G D_K pos.
Let v_31 := v_cut label pos G D_K.

Lemma v_31E i :
  v_31 i = if (pos i < K)%N then G (label i) * D (pos i) / Z_K else 0.
Proof.
by rewrite /v_31 /v_cut cutE; case: ifP => // _; rewrite mulr0 mul0r.
Qed.

(* Section 5.1: their sum is 1, if some document is relevant, so that the list
   has a gain at all. *)
Theorem slam_sum_of_weights_31 :
  (0 < K)%N -> 0 < G 1%N -> 0 < D 0%N -> (exists i, (0 < label i)%N) ->
  \sum_i v_31 i = 1.
Proof.
move=> K_gt0 G1_gt0 D0_gt0 [j j_rel]; apply: v_cut_total; apply: lt0r_neq0.
have m_gt0 : (0 < m)%N := leq_ltn_trans (leq0n j) (ltn_ord j).
have [numbered _ numberedK] := injF_bij pos_inj.
pose i := numbered (Ordinal m_gt0).
have pos_i : pos i = 0%N :> nat by rewrite numberedK.
have label_gt0 : (0 < label i)%N.
  rewrite lt0n; apply/eqP => label0.
  have : (pos j < pos i)%N by apply: pos_falling; rewrite label0.
  by rewrite pos_i.
rewrite /DCG (bigD1 i) // ltr_paddr //.
  by apply: sumr_ge0 => i' _; rewrite mulr_ge0 ?G_ge0 ?D_ge0.
rewrite cutE pos_i K_gt0 mulr_gt0 //; apply: lt_le_trans G1_gt0 _.
exact: (homo_leq (@lexx _ R) (@le_trans _ R) (@G_increases _ G)).
Qed.

(* Section 5.1, before Corollary 7: SLAM with the weights (31) is at least
   1 - NDCG@K. *)
Theorem slam_weights_31 s rk :
  sorts s rk -> NDCG_loss label pos G D_K rk <= SLAM label v_31 s.
Proof.
move=> /rule_through[rank ranked <-].
have v_ge0 i : 0 <= v_31 i by apply: v_cut_ge0.
have loss_le : loss_at_most_weights
    (cut_round (fun=> 0 : Rd R 0) label (fun=> id) rank pos G D_K).
  exact: cut_loss_at_most_weights.
apply: le_trans (loss_le s) _.
exact: slam_loss_ge_misordered.
Qed.

End NDCG.
