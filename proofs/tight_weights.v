(* Theorem 1 of docs/weights-of-slam.md: the tightest weights of SLAM for NDCG.

   Of the weights v*, [v_NDCG] in ranking_loss.v, this file proves (a), that SLAM
   with them is at least 1 - NDCG; (b), that their sum is the loss of the
   reversed order, and that no other weights for which (a) holds have a smaller
   sum; and (c), that they are at most the weights (9) of the paper, and equal to
   them if only one document is relevant.

   Ranks and positions are counted from 0.
*)

From formal Require Import library perceptron_bound ranking_loss slam_losses.

Section TightWeights.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat).
Implicit Types (s v : 'I_m -> R) (rk : 'I_m -> 'I_m).

Variables (G : gain R) (D : discount R).
Hypothesis D_convex : convex D.

(* The numbers of the documents, by falling label *)
Variable pos : 'I_m -> 'I_m.
Hypothesis pos_inj : injective pos.
Hypothesis pos_falling : falling label pos.

Let Z := DCG label G D pos.

(* The weights v* *)
Let v_star := v_NDCG label pos G D.

Lemma v_star_ge0 i : 0 <= v_star i.
Proof. exact: v_NDCG_ge0. Qed.

(* (a) *)
Theorem tight_weights_are_valid : valid label (NDCG_loss label pos G D) v_star.
Proof.
split=> [|s rk /rule_through[rank ranked <-]]; first exact: v_star_ge0.
have loss_le : loss_at_most_weights
    (NDCG_round (fun=> 0 : Rd R 0) label (fun=> id) rank pos G D).
  exact: NDCG_loss_at_most_weights.
apply: le_trans (loss_le s) _; apply: slam_loss_ge_misordered.
exact: v_star_ge0.
Qed.

(* What the documents of one level lose in the reversed order *)
Let lost_in_reverse l i := D (pos i) - D (pos i + (m - #|level label l|))%N.

Lemma reversed_others_level l i : i \in level label l ->
  others (reversed pos) (level label l) i = (m - #|level label l|)%N.
Proof.
move=> i_l; rewrite -[X in (X - _)%N]card_ord -(cardsC (level label l)) addKn.
apply: eq_card => j; rewrite !inE; apply: andb_idr; rewrite -leqNgt => j_le.
have pos_lt : (pos i < pos j)%N.
  by apply: pos_falling; apply: leq_ltn_trans j_le _; rewrite inE in i_l.
by rewrite /= -subSn ?ltn_ord // subSS leq_sub2l.
Qed.

Lemma reversed_level l :
  \sum_(i in level label l) (D (pos i) - D (reversed pos i))
    = \sum_(i in level label l) lost_in_reverse l i.
Proof.
have [reversed_inj _] := reversed_sorts R pos_inj.
pose h c := D c - D (c + (m - #|level label l|))%N.
rewrite level_DCG_lost //.
transitivity (\sum_(i in level label l) h (above (reversed pos) (level label l) i)).
  apply: eq_bigr => i i_l; rewrite /lost /h.
  by rewrite (rank_split (level label l) reversed_inj) reversed_others_level.
rewrite (sum_places _ reversed_inj) -(sum_places _ pos_inj).
by apply: eq_bigr => i i_l; rewrite -(pos_level pos_inj pos_falling i_l).
Qed.

(* (b), first part: the sum of v* is the loss of the reversed order. *)
Theorem tight_weights_sum :
  \sum_i v_star i = NDCG_loss label pos G D (reversed pos).
Proof.
rewrite /NDCG_loss -/Z; case: eqP => [Z0|/eqP Z_neq0].
  by rewrite big1 // => i _; rewrite /v_star /v_NDCG -/Z Z0 invr0 mul0r.
rewrite NDCG_loss_by_levels // -mulr_sumr; congr (_ * _).
under eq_bigr => i _ do rewrite
  (big_ord_widen _ (fun l => (G l.+1 - G l) * lost_in_reverse l i)
    (label_le label i)).
rewrite (exchange_big_dep xpredT) //=; apply: eq_bigr => l _.
rewrite -mulr_sumr reversed_level; congr (_ * _).
by apply: eq_bigl => i; rewrite inE.
Qed.

(* (b), second part: no valid weights have a smaller sum, whether those of
   documents of the lowest label count or not. *)
Theorem tight_weights_have_the_least_sum v :
  valid label (NDCG_loss label pos G D) v ->
  \sum_i v_star i <= \sum_(i | [exists j, (label j < label i)%N]) v i
                  <= \sum_i v i.
Proof.
move=> [v_ge0 v_valid]; apply/andP; split; last exact: sum_le_more.
rewrite tight_weights_sum -SLAM_at_equal_scores.
exact: v_valid (reversed_sorts R pos_inj).
Qed.

(* (c) *)
Theorem tight_weights_at_most_printed low i :
  (forall i, low <= label i)%N -> v_star i <= v_printed label pos G D low i.
Proof. by move=> low_le; apply: v_NDCG_le. Qed.

Theorem tight_weights_of_one_relevant : #|level label 0| = 1%N ->
  forall i, v_star i = v_printed label pos G D 0 i.
Proof.
move=> one i; rewrite /v_star /v_NDCG /v_printed -/Z G0 subr0 [RHS]mulrC.
congr (_ * _); case: (posnP (label i)) => [->|label_gt0].
  by rewrite big_ord0 G0 mul0r.
have i_rel : i \in level label 0 by rewrite inE.
have pos0 : pos i = 0%N :> nat.
  apply/eqP; rewrite -leqn0 -ltnS -one.
  exact: (pos_level_lt pos_inj pos_falling i_rel).
have sub l : (l < label i)%N -> #|level label l| = 1%N.
  move=> l_lt; apply/eqP; rewrite eqn_leq; apply/andP; split.
    rewrite -one; apply: subset_leq_card; apply/subsetP => j.
    by rewrite !inE; apply: leq_ltn_trans.
  by apply/card_gt0P; exists i; rewrite inE.
rewrite (G_steps G) mulr_suml; apply: eq_bigr => l _.
by rewrite sub // pos0 add0n subn1.
Qed.

End TightWeights.
