(* Statements next to the two theorems of perceptron_bound.v that are false,
   each with a sequence of rounds at which it fails.

     Axes                  a constant below 1 before U^2 Delta^2 in Theorem 2,
                           and weights whose sum is above 1
     Small steps           Theorem 1 without the term 2/eta
*)

From mathcomp Require Import all_ssreflect all_algebra.
From formal Require Import perceptron_bound.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

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

(* What is assumed of rounds holds, for 0 <= a <= 1; that the sum of the weights
   is at most 1 is needed for the last bound on a only. *)
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
move=> t_lt; rewrite /slam_loss axes_sum /= mul0r add0r.
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
move=> bound; have [ok dist loss_le f0 [total u2]] := theorem_2_attained 1 (1 : R).
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
