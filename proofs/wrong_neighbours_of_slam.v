(* Statements next to the theorems of slam_losses.v and slam_theorem_5.v that
   are false.

     Equation (8)          the weights (6) do not lie below all others for which
                           SLAM is at least 1 - AP
     The margin            no margin below 1 does in (5)
     The constant          none below 4 does in Corollary 7
*)

From formal Require Import library perceptron_bound ranking_loss slam_losses.
From formal Require Import slam_theorem_5 wrong_neighbours.
From mathcomp Require Import perm.

(* ------------------------------------------------------------------------- *)
(* Equation (8) *)

Section OneList.

Variable R : realFieldType.

(* Documents 0 and 1 are relevant, and document 2 is not. *)
Definition two_of_three (i : 'I_3) : nat := if i == ord_max then 0%N else 1%N.

(* The two relevant documents in their own order, and exchanged *)
Definition as_listed (i : 'I_3) : 'I_3 := i.
Definition exchanged : 'I_3 -> 'I_3 := tperm 0 1.

Lemma two_relevant : #|level two_of_three 0| = 2%N.
Proof.
rewrite cardsE -sum1_card big_mkcond /= !big_ord_recl big_ord0.
by rewrite /two_of_three.
Qed.

Lemma relevant_of_three i : (i \in level two_of_three 0) = (i < 2)%N.
Proof. by rewrite inE /two_of_three; case: i => [[|[|[|]]]]. Qed.

Lemma exchanged_inj : injective exchanged.
Proof. exact: perm_inj. Qed.

Lemma exchanged_first i :
  i \in level two_of_three 0 -> (exchanged i < #|level two_of_three 0|)%N.
Proof.
rewrite two_relevant relevant_of_three /exchanged => i_lt.
by case: tpermP => // ->.
Qed.

Lemma listed_first i :
  i \in level two_of_three 0 -> (as_listed i < #|level two_of_three 0|)%N.
Proof. by rewrite two_relevant relevant_of_three. Qed.

Lemma weight_of_the_first : v_MAP R two_of_three as_listed 0 = 4%:R^-1.
Proof.
have -> : v_MAP R two_of_three as_listed 0 = 2%:R^-1 - 1 / (2%:R * 2%:R).
  by rewrite /v_MAP two_relevant relevant_of_three.
by field.
Qed.

(* Equation (8) says that the weights (6), which are (1/4, 1/6, 0) here, lie
   below all valid ones. But (1/6, 1/4, 0) are valid as well: they are the
   weights (6) if the two relevant documents are numbered the other way. *)
Theorem slam_equation_8_is_false : exists v : 'I_3 -> R,
  [/\ valid two_of_three (AP_loss R two_of_three) v,
      v_MAP R two_of_three as_listed 0 = 4%:R^-1, v 0 = 6%:R^-1
    & ~ forall i, v_MAP R two_of_three as_listed i <= v i].
Proof.
exists (v_MAP R two_of_three exchanged).
have v0 : v_MAP R two_of_three exchanged 0 = 6%:R^-1.
  have -> : v_MAP R two_of_three exchanged 0
      = 2%:R^-1 - 2%:R / (2%:R * 3%:R).
    by rewrite /v_MAP two_relevant relevant_of_three /exchanged tpermL.
  by field.
split=> //; last 1 first.
- move=> /(_ 0); rewrite v0 weight_of_the_first lef_pinv ?posrE ?ltr0n //.
  by rewrite ler_nat.
- split=> [i|s rk]; first exact: v_MAP_ge0.
  by apply: slam_theorem_2; [exact: exchanged_inj | exact: exchanged_first].
exact: weight_of_the_first.
Qed.

(* ------------------------------------------------------------------------- *)
(* The margin *)

(* With a margin below 1, the loss of equal scores is below 1 - AP, if the
   irrelevant document is ranked first. *)
Theorem slam_margin_below_1 Delta : Delta < 1 -> exists s rk,
  sorts s rk
  /\ SLAM_with Delta two_of_three (v_MAP R two_of_three as_listed) s
       < AP_loss R two_of_three rk.
Proof.
move=> Delta_lt1; exists (fun=> 0), (reversed as_listed).
have listed_inj : injective as_listed by [].
split; first exact: (reversed_sorts R listed_inj).
rewrite (reversed_loss R listed_inj listed_first) /SLAM_with.
pose c := Num.max 0 Delta; have c_lt1 : c < 1 by rewrite lt_maxl ltr01.
have v_ge0 := v_MAP_ge0 R two_of_three as_listed.
apply: (@le_lt_trans _ _ (c * \sum_i v_MAP R two_of_three as_listed i)).
  rewrite mulr_sumr; apply: ler_sum => i _; rewrite mulrC ler_wpmul2r //.
  apply: worst_hinge_le => [|j _]; first by rewrite le_maxr lexx.
  by rewrite addr0 subr0 le_maxr lexx orbT.
rewrite -subr_gt0 -[X in X - _]mul1r -mulrBl mulr_gt0 ?subr_gt0 //.
rewrite (bigD1 0) //= weight_of_the_first ltr_paddr ?invr_gt0 ?ltr0n //.
by rewrite sumr_ge0.
Qed.

End OneList.

(* ------------------------------------------------------------------------- *)
(* The constant *)

(* One round of the list [axes] of wrong_neighbours.v, with one axis: its loss is
   1 - NDCG@1, its only weight is 1, and its documents have the norm 1. *)
Section OneRound.

Variables (R : realFieldType) (eta : R).

Lemma axes_bounded t : bounded (axes 1 (1 : R) t) 1.
Proof.
split.
- exact: (@axes_well_formed R 1 1 t.+1 ler01 (lexx 1) t (ltnSn t)).
- exact: axes_loss.
- by move=> s; rewrite axes_RML_of; case: ifP => // _; rewrite ler01.
rewrite /weights_at_most -(cards1 (1 : 'I_2)); apply: subset_leq_card.
apply/subsetP => i; rewrite !inE /=; have := two i.
by case: (i == 0) => //=; rewrite ltxx.
Qed.

Lemma axes_norms t (i : 'I_(m (axes 1 (1 : R) t))) : norm2 (x i) <= 1 ^+ 2.
Proof.
rewrite expr1n /=; case: ifP => _; last exact: axis_norm.
by rewrite norm2N axis_norm.
Qed.

Lemma axes_quotients t : quotients_at_most (axes 1 (1 : R) t) 1.
Proof.
move=> i j /=; case: ifP => _; first by rewrite ltxx.
by case: ifP => _ v_i; rewrite ?ltxx // mulr1.
Qed.

Lemma axes_one_round : total_RML algorithm_1 eta (axes 1 (1 : R)) 1 = 1.
Proof.
rewrite /total_RML big_ord_recl big_ord0 addr0 axes_RML_of /s_ /scores /=.
rewrite ifT //; have w0 y : dot y (0 : Rd R 1) = 0 by rewrite dotC dot0l.
by rewrite !w0.
Qed.

Lemma axes_no_loss : F algorithm_1 eta (axes 1 (1 : R)) (half R 1) 1 = 0.
Proof. by rewrite /F big1 // => t _; apply: half_loss. Qed.

End OneRound.

(* Corollary 7 holds with equality here, so that no bound of this form has a
   constant below 4, whatever the factor of F. *)
Theorem slam_constant_is_4 (R : realFieldType) (factor const : R) :
  (forall (d : nat) (X : nat -> round (Rd R d)) (T : nat) (R_X v_max : R)
          (n : nat) u,
     let c := 4%:R * n%:R * R_X ^+ 2 * v_max in
     0 < c -> (forall t, (t < T)%N -> bounded (X t) n) ->
     (forall t, (t < T)%N ->
        forall i : 'I_(m (X t)), norm2 (x i) <= R_X ^+ 2) ->
     (forall t, (t < T)%N -> quotients_at_most (X t) v_max) ->
     total_RML algorithm_1 c^-1 X T
       <= factor * F algorithm_1 c^-1 X u T
          + const * norm2 u * n%:R * R_X ^+ 2 * v_max) ->
  4%:R <= const.
Proof.
move=> bound; have := bound 1%N (axes 1 (1 : R)) 1%N 1 1 1%N (half R 1) _
  (fun t _ => axes_bounded R t) (fun t _ => @axes_norms R t)
  (fun t _ => @axes_quotients R t).
rewrite axes_one_round axes_no_loss mulr0 add0r expr1n !mulr1 ltr0n.
move=> /(_ isT) le1; have := norm2_half R 1; rewrite -natrX => U2_4.
rewrite -[const]mulr1 -[X in const * X]U2_4 mulrA -[X in X <= _]mul1r.
by rewrite ler_wpmul2r.
Qed.
