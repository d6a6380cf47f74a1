(* Statements next to the two theorems of perceptron_bound.v that are false,
   each with a sequence of rounds at which it fails.

     Axes                  a constant below 1 before U^2 Delta^2 in Theorem 2,
                           and weights whose sum is above 1
     Small steps           Theorem 1 without the term 2/eta
*)

From formal Require Import library perceptron_bound.

(* ------------------------------------------------------------------------- *)
(* Axes *)

Section Axes.

Variables (R : realFieldType) (n : nat) (a : R).

(* The vector of axis t, for t = 0, ..., n - 1 *)
Definition axis (t : nat) : 'rV[R]_n := \row_c (c == t :> nat)%:R.

(* Round t has two documents on axis t: number 0 is irrelevant and at -1, and
   number 1 is relevant, at 1, and has the weight a. If their scores are equal,
   number 0 is ranked first. The ranking loss is a if number 1 is not the first
   one; with a = 1 this is 1 - NDCG@1, and a is its weight (31). *)
Definition axes (t : nat) : round (Rd R n) :=
  @Round R (Rd R n) 2
    (fun i => if i == 0 then - axis t else axis t)
    (fun i => i)
    (fun i => if i == 0 then 0 else a)
    (fun s i => 0)
    (fun s => if s 1 <= s 0 then a else 0).

Lemma two (i : 'I_2) : (i == 0) || (i == 1).
Proof. by case: i => [[|[|]]]. Qed.

Lemma axes_less t (i j : 'I_(m (axes t))) : less j i = (j == 0) && (i == 1).
Proof. by case: i j => [[|[|]] hi] // [[|[|]] hj]. Qed.

Lemma axes_has_less t (i : 'I_(m (axes t))) : has_less i = (i == 1).
Proof.
apply/existsP/idP => [[j]|i1]; first by rewrite axes_less => /andP[].
by exists 0; rewrite axes_less i1.
Qed.

Lemma axes_best t : best_less (axes t).
Proof.
move=> s i; rewrite axes_has_less => i1; split; first by rewrite axes_less i1.
by move=> j; rewrite axes_less => /andP[/eqP-> _].
Qed.

Lemma axes_misordered t s (i : 'I_(m (axes t))) :
  misordered s i = (i == 1) && (s 1 <= s 0).
Proof.
apply/existsP/andP => [[j]|[i1 s_le]].
  by rewrite axes_less => /andP[/andP[/eqP-> /eqP->]].
by exists 0; rewrite axes_less i1 (eqP i1).
Qed.

Lemma axes_sum (V : zmodType) t (P : pred 'I_(m (axes t))) f :
  \sum_(i | P i) f i = (if P 0 then f 0 else 0) + (if P 1 then f 1 else 0) :> V.
Proof.
rewrite big_mkcond /= !big_ord_recl big_ord0 addr0.
by rewrite (_ : lift ord0 ord0 = 1) //; apply: val_inj.
Qed.

Lemma axis_dot t (t_lt : (t < n)%N) y :
  dot (axis t : Rd R n) y = y 0 (Ordinal t_lt).
Proof.
rewrite /dot /= /row_dot (bigD1 (Ordinal t_lt)) //= big1 => [|c c_neq].
  by rewrite mxE eqxx mul1r addr0.
by rewrite mxE -[c == t :> nat]/(c == Ordinal t_lt) (negPf c_neq) mul0r.
Qed.

(* What is assumed of rounds holds for 0 <= a <= 1, and all of it but the sum of
   the weights for a > 1. *)
Lemma axes_v_ge0 t : 0 <= a -> forall i : 'I_(m (axes t)), 0 <= v i.
Proof. by move=> a_ge0 i /=; case: ifP. Qed.

Lemma axes_v_sum t : \sum_(i < m (axes t)) v i = a.
Proof. by rewrite axes_sum /= add0r. Qed.

Lemma axes_loss t : loss_at_most_weights (axes t).
Proof.
by move=> s; rewrite axes_sum !axes_misordered /= add0r.
Qed.

Lemma axis_norm t : norm2 (axis t : Rd R n) <= 1.
Proof.
case: (ltnP t n) => [t_lt|n_le].
  by rewrite /norm2 (axis_dot t_lt) mxE eqxx.
rewrite (_ : axis t = 0); first by rewrite /norm2 dot0l ler01.
by apply/rowP => c; rewrite !mxE ltn_eqF // (leq_trans _ n_le).
Qed.

Lemma axes_distances T : distances_at_most (2%:R) axes T.
Proof.
have opposite t : norm2 (- axis t : Rd R n) = norm2 (axis t : Rd R n).
  exact: norm2N.
have norm t (i : 'I_(m (axes t))) : norm2 (x i) <= 1 ^+ 2.
  rewrite expr1n /=; case: ifP => _; last exact: axis_norm.
  by rewrite opposite axis_norm.
move=> t _ i j; rewrite -[2%:R]mulr1; exact: norm2B_le.
Qed.

(* The comparator (1/2, ..., 1/2) has no loss. *)
Definition half : Rd R n := const_mx 2%:R^-1.

Lemma norm2_half : norm2 half * 2%:R ^+ 2 = n%:R.
Proof.
rewrite /norm2 /dot /= /row_dot.
under eq_bigr do rewrite !mxE.
rewrite sumr_const card_ord -mulr_natl -mulrA -expr2 -exprMn.
by rewrite mulVf ?pnatr_eq0 // expr1n mulr1.
Qed.

Lemma half_loss t : (t < n)%N -> slam_loss (scores (axes t) half) = 0.
Proof.
move=> t_lt.
transitivity (\sum_i v i * hinge (scores (axes t) half) i) => //.
rewrite axes_sum /= mul0r add0r.
suff -> : hinge (scores (axes t) half) 1 = 0 by rewrite mulr0.
apply/eqP; rewrite eq_le hinge_ge0 andbT; apply: hinge_le0 => j.
rewrite axes_less => /andP[/eqP-> _]; rewrite /scores /=.
rewrite dotNl (axis_dot t_lt) mxE -addrA -opprD -[in X in 1 - X]mulr2n.
by rewrite -mulr_natr mulVf ?subrr // pnatr_eq0.
Qed.

(* The perceptron learns nothing of axis t before round t. *)
Variable eta : R.

Lemma axes_z t s :
  z algorithm_2 (r := axes t) s
    = if s 1 <= s 0 then a *: (- axis t - axis t) else 0.
Proof. by rewrite /z axes_sum /algorithm_2 !axes_misordered /= add0r. Qed.

Lemma axes_w t (c : 'I_n) : (t <= c)%N -> w algorithm_2 eta axes t 0 c = 0.
Proof.
elim: t => [|t IH] t_le; first by rewrite mxE.
rewrite w_S; case: ifP => _; last by rewrite IH // ltnW.
rewrite axes_z; case: ifP => _; rewrite !mxE IH ?(ltnW t_le) //.
  by rewrite gtn_eqF // oppr0 addr0 !mulr0 subr0.
by rewrite mulr0 subr0.
Qed.

Lemma axes_scores t i : (t < n)%N -> s_ algorithm_2 eta axes t i = 0.
Proof.
move=> t_lt; rewrite /s_ /scores /=.
have w0 : dot (axis t : Rd R n) (w algorithm_2 eta axes t) = 0.
  by rewrite (axis_dot t_lt) axes_w.
by case: ifP => _; rewrite ?dotNl w0 ?oppr0.
Qed.

Lemma axes_RML_of t s : RML (r := axes t) s = if s 1 <= s 0 then a else 0.
Proof. by []. Qed.

Lemma axes_RML t : (t < n)%N -> RML (s_ algorithm_2 eta axes t) = a.
Proof. by move=> t_lt; rewrite axes_RML_of !axes_scores // lexx. Qed.

Lemma axes_total : total_RML algorithm_2 eta axes n = a *+ n.
Proof.
rewrite /total_RML (eq_bigr (fun=> a)) => [|t _]; last exact: axes_RML.
by rewrite sumr_const card_ord.
Qed.

Lemma axes_A t : (t < n)%N -> A algorithm_2 (s_ algorithm_2 eta axes t) = a.
Proof.
move=> t_lt; rewrite /A axes_sum /algorithm_2 !axes_misordered.
by rewrite !axes_scores // lexx /= add0r.
Qed.

Lemma axes_N : a != 0 -> N algorithm_2 eta axes n = a *+ n.
Proof.
move=> a_neq0; rewrite /N (eq_bigl xpredT) => [|t]; last first.
  by rewrite /lossy axes_RML.
rewrite (eq_bigr (fun=> a)) => [|t _]; last exact: axes_A.
by rewrite sumr_const card_ord.
Qed.

Lemma axes_F T : (T <= n)%N -> F algorithm_2 eta axes half T = 0.
Proof.
move=> T_le; rewrite /F big1 // => t _; apply: half_loss.
exact: leq_trans T_le.
Qed.

Lemma axes_well_formed T : 0 <= a -> a <= 1 -> well_formed_rounds axes T.
Proof.
move=> a_ge0 a_le1 t _; split; first exact: axes_v_ge0.
  by rewrite axes_v_sum.
exact: axes_best.
Qed.

End Axes.

(* With n axes, Theorem 2 holds with equality: F = 0, and both the ranking loss
   and U^2 Delta^2 are n. *)
Theorem theorem_2_attained (R : realFieldType) (n : nat) (eta : R) :
  [/\ well_formed_rounds (axes n (1 : R)) n,
      distances_at_most 2%:R (axes n (1 : R)) n,
      forall t, (t < n)%N -> loss_at_most_weights (axes n (1 : R) t),
      F algorithm_2 eta (axes n 1) (half R n) n = 0
    & total_RML algorithm_2 eta (axes n 1) n = n%:R
      /\ norm2 (half R n) * 2%:R ^+ 2 = n%:R].
Proof.
split; [|exact: axes_distances|by move=> t _; apply: axes_loss| |].
- by apply: axes_well_formed; rewrite ?ler01.
- exact: axes_F.
- by split; [rewrite axes_total | exact: norm2_half].
Qed.

(* No bound of this form has a constant below 1 before U^2 Delta^2, whatever the
   factor of F. *)
Theorem no_smaller_constant (R : realFieldType) (factor c : R) :
  (forall (d : nat) (X : nat -> round (Rd R d)) (T : nat) (eta Delta : R) u,
     0 < eta -> well_formed_rounds X T -> distances_at_most Delta X T ->
     (forall t, (t < T)%N -> loss_at_most_weights (X t)) ->
     total_RML algorithm_2 eta X T
       <= factor * F algorithm_2 eta X u T + c * (norm2 u * Delta ^+ 2)) ->
  1 <= c.
Proof.
move=> bound.
have [ok dist loss_le f0 [total u2]] := theorem_2_attained 1 (1 : R).
have := bound _ _ _ _ _ (half R 1) ltr01 ok dist loss_le.
by rewrite f0 total u2 mulr0 add0r mulr1.
Qed.

(* Without the hypothesis that the sum of the weights is at most 1, Theorem 2 is
   false: here it is 2, and the other hypotheses hold. *)
Theorem sums_above_1 (R : realFieldType) (eta : R) :
  let X := axes 1 (2%:R : R) in
  [/\ forall t (i : 'I_(m (X t))), 0 <= v i,
      forall t, best_less (X t),
      distances_at_most 2%:R X 1
    & 2%:R * F algorithm_2 eta X (half R 1) 1 + norm2 (half R 1) * 2%:R ^+ 2
        < N algorithm_2 eta X 1].
Proof.
split; [by move=> t; apply: axes_v_ge0; apply: ler0n | exact: axes_best
       |exact: axes_distances |].
by rewrite axes_F // axes_N ?pnatr_eq0 // norm2_half mulr0 add0r ltr_nat.
Qed.

(* ------------------------------------------------------------------------- *)
(* Small steps *)

Section SmallSteps.

Variable R : realFieldType.

Let quarter : R := 4%:R^-1.

Lemma quarters : quarter *+ 4 = 1.
Proof. by rewrite -mulr_natr mulVf // pnatr_eq0. Qed.

Lemma quarter_gt0 : 0 < quarter.
Proof. by rewrite invr_gt0 ltr0n. Qed.

Definition vec (a b : R) : Rd R 2 := \row_c (if c == 0 then a else b).

Lemma dot_vec a b a' b' : dot (vec a b) (vec a' b') = a * a' + b * b'.
Proof.
by rewrite /dot /= /row_dot !big_ord_recl big_ord0 addr0 !mxE.
Qed.

(* The same list is met again and again: an irrelevant document at (0, 0), and
   relevant ones at (2, 1) and (-2, 1), with the weights 3/4 and 1/4. The
   ranking loss is the sum of the weights of misordered documents. *)
Definition place (i : 'I_3) : Rd R 2 :=
  if i == 0 then vec 0 0 else if i == 1 then vec 2%:R 1 else vec (- 2%:R) 1.
Definition weight (i : 'I_3) : R :=
  if i == 0 then 0 else if i == 1 then quarter *+ 3 else quarter.
Definition opposed : round (Rd R 2) :=
  @Round R (Rd R 2) 3 place (fun i => if i == 0 then 0%N else 1%N) weight
    (fun s i => 0)
    (fun s => \sum_(i | (i != 0) && (s i <= s 0)) weight i).

Lemma opposed_less (i j : 'I_(m opposed)) : less j i = (j == 0) && (i != 0).
Proof. by rewrite /less /=; case: (i == 0); case: (j == 0). Qed.

Lemma opposed_has_less (i : 'I_(m opposed)) : has_less i = (i != 0).
Proof.
apply/existsP/idP => [[j]|i0]; first by rewrite opposed_less => /andP[].
by exists 0; rewrite opposed_less i0.
Qed.

Lemma opposed_misordered s (i : 'I_(m opposed)) :
  misordered s i = (i != 0) && (s i <= s 0).
Proof.
apply/existsP/andP => [[j]|[i0 s_le]].
  by rewrite opposed_less => /andP[/andP[/eqP-> ->]].
by exists 0; rewrite opposed_less i0.
Qed.

Lemma opposed_sum (V : zmodType) (P : pred 'I_3) f :
  \sum_(i | P i) f i
    = (if P 0 then f 0 else 0) + ((if P 1 then f 1 else 0)
      + (if P ord_max then f ord_max else 0)) :> V.
Proof.
rewrite big_mkcond /= !big_ord_recl big_ord0 addr0.
rewrite (_ : lift ord0 ord0 = 1); last exact: val_inj.
by rewrite (_ : lift _ _ = ord_max) //; apply: val_inj.
Qed.

Lemma opposed_well_formed : well_formed opposed.
Proof.
split.
- move=> i /=; rewrite /weight; do 2?case: ifP => // _;
  by rewrite ?mulrn_wge0 // ltW ?quarter_gt0.
- by rewrite opposed_sum /= /weight /= add0r -mulrSr quarters.
move=> s i; rewrite opposed_has_less => i0; split.
  by rewrite opposed_less.
by move=> j; rewrite opposed_less => /andP[/eqP-> _].
Qed.

Lemma opposed_loss : loss_at_most_weights opposed.
Proof.
by move=> s; rewrite (eq_bigl _ _ (opposed_misordered s)).
Qed.

Lemma opposed_distances T : distances_at_most 6%:R (fun=> opposed) T.
Proof.
have norm (i : 'I_3) : norm2 (place i) <= 3%:R ^+ 2.
  rewrite /norm2 /place; do 2?case: ifP => _; rewrite dot_vec ?mulrNN.
  - by rewrite mulr0 addr0 sqr_ge0.
  - by rewrite mulr1 -natrM -(natrD _ (2 * 2) 1) -natrX ler_nat.
  by rewrite mulr1 -natrM -(natrD _ (2 * 2) 1) -natrX ler_nat.
move=> t _ i j; rewrite (natrM _ 2 3); exact: norm2B_le.
Qed.

(* The comparator (0, 1) has no loss. *)
Definition up : Rd R 2 := vec 0 1.

Lemma norm2_up : norm2 up = 1.
Proof. by rewrite /norm2 dot_vec mulr0 mulr1 add0r. Qed.

Lemma up_loss : slam_loss (scores opposed up) = 0.
Proof.
transitivity (\sum_i v i * hinge (scores opposed up) i) => //.
apply: big1 => i _; case: (eqVneq i 0) => [->|i0]; first by rewrite mul0r.
suff -> : hinge (scores opposed up) i = 0 by rewrite mulr0.
apply/eqP; rewrite eq_le hinge_ge0 andbT; apply: hinge_le0 => j.
rewrite opposed_less => /andP[/eqP-> _]; rewrite /scores /= /place.
rewrite (negPf i0) /=.
by case: ifP => _; rewrite !dot_vec !mulr0 !mulr1 !add0r addr0 subrr.
Qed.

(* While 3 b < 1, all hinges at the vector (b, b) are positive, and the last
   document is misordered. *)
Section Diagonal.

Variable b : R.
Hypotheses (b_ge0 : 0 <= b) (b_small : b *+ 3 < 1).
Let s := scores opposed (vec b b).

Lemma diagonal0 : s 0 = 0.
Proof. by rewrite /s /scores /= /place /= dot_vec !mul0r addr0. Qed.

Lemma diagonal1 : s 1 = b *+ 3.
Proof. by rewrite /s /scores /= /place /= dot_vec mulr_natl mul1r -mulrSr. Qed.

Lemma diagonal2 : s ord_max = - b.
Proof.
rewrite /s /scores /= /place /= dot_vec mulNr mulr_natl mul1r mulr2n.
by rewrite opprD subrK.
Qed.

Lemma diagonal_active i : algorithm_1 opposed s i = (i != 0).
Proof.
rewrite /algorithm_1 /hinge_positive opposed_has_less; apply: andb_idr.
move=> i0; rewrite -/s diagonal0 addr0 subr_gt0.
case: (eqVneq i 1) => [->|i1].
  by rewrite diagonal1.
rewrite (_ : i = ord_max) ?diagonal2 ?(le_lt_trans _ ltr01) ?oppr_le0 //.
by apply: val_inj; case: i i0 i1 => [[|[|[|]]]].
Qed.

Lemma diagonal_z : z algorithm_1 s = - vec 1 1.
Proof.
rewrite /z (eq_bigl _ _ diagonal_active) opposed_sum /= add0r.
apply/rowP => c; rewrite !mxE /=; case: (c == 0); rewrite /weight /= !sub0r.
  rewrite opprK mulrN addrC -opprB -mulrBl [_ *+ 3]mulrSr addrK.
  by rewrite mulr_natr -mulrnA quarters.
by rewrite -mulrDl -mulrSr quarters mul1r.
Qed.

Lemma diagonal_RML : quarter <= RML s.
Proof.
rewrite /= opposed_sum /= add0r -/(s 0) diagonal0 diagonal2 oppr_le0 b_ge0.
by rewrite ler_addr; case: ifP => _ //; rewrite mulrn_wge0 // ltW ?quarter_gt0.
Qed.

End Diagonal.

Variables (eta : R) (T : nat).
Hypotheses (eta_gt0 : 0 < eta) (eta_small : eta *+ (3 * T) <= 1).

Lemma opposed_small t : (t < T)%N -> eta *+ t *+ 3 < 1.
Proof.
move=> t_lt; apply: lt_le_trans eta_small; rewrite -mulrnA mulnC.
by rewrite ltr_pmuln2l // ltn_mul2l.
Qed.

Lemma opposed_w t : (t <= T)%N ->
  w algorithm_1 eta (fun=> opposed) t = vec (eta *+ t) (eta *+ t).
Proof.
elim: t => [|t IH] t_lt.
  by apply/rowP => c; rewrite !mxE /= mulr0n if_same.
have b_ge0 : 0 <= eta *+ t by rewrite mulrn_wge0 ?ltW.
have b_small := opposed_small t_lt.
rewrite w_S /lossy /s_ IH 1?ltnW // diagonal_z //.
rewrite gt_eqF ?(lt_le_trans quarter_gt0 (diagonal_RML b_ge0)) //=.
apply/rowP => c; rewrite !mxE mulrN opprK.
by case: ifP => _; rewrite mulr1 mulrSr.
Qed.

Lemma opposed_total :
  quarter *+ T <= total_RML algorithm_1 eta (fun=> opposed) T.
Proof.
rewrite /total_RML -[T in _ *+ T]card_ord -sumr_const; apply: ler_sum => t _.
rewrite /s_ opposed_w ?(ltnW (ltn_ord t)) //; apply: diagonal_RML.
by rewrite mulrn_wge0 ?ltW.
Qed.

End SmallSteps.

(* Without the term 2/eta, no bound holds for Algorithm 1, whatever the factors
   of F and of U^2 Delta^2. *)
Theorem needs_2_over_eta (R : realFieldType) (factor : R) (c : nat) :
  ~ (forall (d : nat) (X : nat -> round (Rd R d)) (T : nat) (eta Delta : R) u,
       0 < eta -> well_formed_rounds X T -> distances_at_most Delta X T ->
       (forall t, (t < T)%N -> loss_at_most_weights (X t)) ->
       total_RML algorithm_1 eta X T
         <= factor * F algorithm_1 eta X u T
            + c%:R * (norm2 u * Delta ^+ 2)).
Proof.
pose T := (4 * (36 * c).+1)%N; pose eta : R := (3 * T)%:R^-1.
have eta_gt0 : 0 < eta by rewrite invr_gt0 ltr0n.
have eta_small : eta *+ (3 * T) <= 1.
  by rewrite -mulr_natr mulVf // pnatr_eq0.
move=> /(_ 2%N (fun=> opposed R) T eta 6%:R (up R) eta_gt0).
move=> /(_ (fun _ _ => opposed_well_formed R) (@opposed_distances R T)).
move=> /(_ (fun _ _ => @opposed_loss R)).
have -> : F algorithm_1 eta (fun=> opposed R) (up R) T = 0.
  by rewrite /F big1 // => t _; apply: up_loss.
rewrite mulr0 add0r norm2_up mul1r.
move=> /(le_trans (opposed_total eta_gt0 eta_small)).
rewrite mulrnA quarters -natrX -natrM ler_nat.
by rewrite mulnC ltnn.
Qed.
