(* Theorem 5 of `lists`: the expected risk of the mean iterate of online gradient
   descent. Samples, laws and losses are as in regularised_risk.v.

   Contents
     Gradient descent      an iterate depends on earlier queries only; Jensen's
                           inequality for the mean iterate; the regret is that of
                           equation (15) of `slam`
     Theorem 5             as printed, and with 3/4 of its bound
     A false neighbour     without the factor sqrt(2)
*)

From formal Require Import library perceptron_bound slam_theorem_5.
From formal Require Import finite_laws regularised_risk wrong_neighbours_of_risk.

(* ------------------------------------------------------------------------- *)
(* Gradient descent *)

Section Descent.

Variables (R : rcfType) (E : space R) (Z : Type) (P : law R Z).
Variables (f : E -> Z -> R) (g : E -> Z -> E) (eta : R).

(* Online gradient descent, w_{i+1} = w_i - eta g(w_i, z_i), from w_0 = 0 *)
Fixpoint descent (z : nat -> Z) t : E :=
  if t is t'.+1 then descent z t' - eta *: g (descent z t') (z t') else 0.

Variable n : nat.
Implicit Types (S : sample Z n) (i : 'I_n) (w : E).

(* Query t of a sample; those after the last are never used. *)
Definition query S t : Z := if insub t is Some i then S i else some_query P.

Lemma queryE S i : query S i = S i.
Proof. by rewrite /query valK. Qed.

Definition iterate S t : E := descent (query S) t.

(* The mean of the first n iterates, which the paper returns *)
Definition mean_iterate S : E := n%:R^-1 *: \sum_(t < n) iterate S t.

(* Iterate t does not depend on query t, nor on later ones. *)
Lemma iterate_of_others S S' i :
  (forall j, j != i -> S j = S' j) -> iterate S i = iterate S' i.
Proof.
move=> others; suff early t : (t <= i)%N -> iterate S t = iterate S' t.
  exact: early.
elim: t => // t IH t_lt; rewrite /iterate /= -!/(iterate _ t) IH 1?ltnW //.
suff -> : query S t = query S' t by [].
rewrite /query; case: insubP => // j _ j_t; apply: others.
by apply: contraTneq t_lt => <-; rewrite -j_t ltnn.
Qed.

(* g(w, z) is a subgradient of the loss at w, and has at most the norm L. *)
Variable L : R.
Hypothesis subgradient : forall w z u, f w z + dot (g w z) (u - w) <= f u z.
Hypothesis g_le : forall w z, norm (g w z) <= L.

Lemma L_ge0 : 0 <= L.
Proof. exact: le_trans (norm_ge0 _) (g_le 0 (some_query P)). Qed.

Lemma loss_le w u z : f w z - f u z <= L * norm (w - u).
Proof.
rewrite ler_subl_addr addrC -ler_subl_addr; apply: le_trans (subgradient w z u).
rewrite ler_add2l ler_oppl; apply: le_trans (ler_norm _) _; rewrite normrN.
apply: le_trans (dot_le_norm _ _) _.
by rewrite norm_sym ler_wpmul2r ?norm_ge0.
Qed.

Hypothesis n_gt0 : (0 < n)%N.

Let n_neq0 : n%:R != 0 :> R.
Proof. by rewrite pnatr_eq0 -lt0n. Qed.

(* Jensen's inequality for the mean iterate *)
Lemma loss_of_mean_iterate S z :
  f (mean_iterate S) z <= n%:R^-1 * \sum_(t < n) f (iterate S t) z.
Proof.
set w := mean_iterate S; rewrite ler_pdivl_mull ?ltr0n //.
have -> : n%:R * f w z = \sum_(t < n) (f w z + dot (g w z) (iterate S t - w)).
  rewrite big_split /= sumr_const card_ord mulr_natl -dot_sumr sumrB.
  rewrite sumr_const card_ord -scaler_nat /w /mean_iterate scalerA mulfV //.
  by rewrite scale1r subrr dotC dot0l addr0.
by apply: ler_sum => t _.
Qed.

Hypothesis f_ok : forall w, integrable1 P (f w).
Hypothesis iterate_ok : forall i, integrable P (fun S => f (iterate S i) (S i)).
Hypothesis mean_iterate_ok : integrable P (fun S => mean P (f (mean_iterate S))).

(* The loss of an iterate for its own query has the expectation of its risk. *)
Lemma risk_of_iterate i :
  integrable P (fun S => mean P (f (iterate S i)))
  /\ expect P (fun S => f (iterate S i) (S i))
     = expect P (fun S => mean P (f (iterate S i))).
Proof.
apply: queries_are_independent => // S S' others z.
by rewrite (iterate_of_others others).
Qed.

(* The expected risk of the mean iterate, for any step eta *)
Lemma risk_of_mean_iterate w : 0 < eta ->
  expect P (fun S => mean P (f (mean_iterate S)))
    <= mean P (f w)
       + n%:R^-1 * (norm2 w / (2%:R * eta) + eta / 2%:R * (n%:R * L ^+ 2)).
Proof.
move=> eta_gt0; set C := norm2 w / _ + _.
have risk_ok i := (risk_of_iterate i).1.
have risks_ok := integrable_sum (index_enum [finType of 'I_n]) risk_ok.
have own_ok := integrable_sum (index_enum [finType of 'I_n]) iterate_ok.
have at_ok (i : 'I_n) := expect_at i (f_ok w).
have ats_ok := integrable_sum (index_enum [finType of 'I_n]) (fun i => (at_ok i).1).
apply: (@le_trans _ _ (expect P (fun S =>
    n%:R^-1 * \sum_(i < n) mean P (f (iterate S i))))).
  apply: expect_le => // [|S]; first exact: integrableZ.
  have each_ok (i : 'I_n) := f_ok (iterate S i).
  have sum_ok := integrable_sum (index_enum [finType of 'I_n]) each_ok.
  rewrite -(expect_sum _ each_ok) -(expectZ _ sum_ok).
  apply: expect_le => [||S1]; [exact: f_ok | exact: integrableZ |].
  exact: loss_of_mean_iterate.
rewrite (expectZ _ risks_ok) (expect_sum _ risk_ok).
rewrite (eq_bigr (fun i : 'I_n => expect P (fun S => f (iterate S i) (S i))));
  last by move=> i _; rewrite (risk_of_iterate i).2.
rewrite -(expect_sum _ iterate_ok) -[mean P (f w)](mulKf n_neq0) -mulrDr.
rewrite ler_wpmul2l ?invr_ge0 ?ler0n //.
have -> : n%:R * mean P (f w) = expect P (fun S => \sum_(i < n) f w (S i)).
  rewrite (expect_sum _ (fun i => (at_ok i).1)).
  rewrite (eq_bigr (fun=> mean P (f w))) => [|i _]; last exact: (at_ok i).2.
  by rewrite sumr_const card_ord mulr_natl.
rewrite -ler_subl_addl -(expectB own_ok ats_ok).
apply: expect_le_const => [|S]; first exact: integrableB.
pose z t := g (iterate S t) (query S t).
have regret := @slam_equation_15 R E (fun t u => f u (query S t)) (iterate S) z
  eta n (erefl _) (fun t _ => erefl _) (fun t u _ => subgradient _ _ u) w eta_gt0.
have -> : \sum_(i < n) f (iterate S i) (S i) - \sum_(i < n) f w (S i)
    = \sum_(t < n) f (iterate S t) (query S t) - \sum_(t < n) f w (query S t).
  by congr (_ - _); apply: eq_bigr => i _; rewrite queryE.
apply: le_trans regret _.
rewrite ler_add2l ler_wpmul2l ?divr_ge0 ?ler0n ?(ltW eta_gt0) //.
have -> : n%:R * L ^+ 2 = \sum_(t < n) L ^+ 2.
  by rewrite sumr_const card_ord mulr_natl.
apply: ler_sum => t _; rewrite -sqr_norm.
by rewrite ler_sqr ?nnegrE ?norm_ge0 ?L_ge0 ?g_le.
Qed.

End Descent.

(* ------------------------------------------------------------------------- *)
(* Theorem 5 *)

Section Theorem5.

Variables (R : rcfType) (E : space R) (Z : Type) (P : law R Z) (n : nat).
Variables (m : Z -> nat) (x : forall z, 'I_(m z) -> E).
Variable phi : forall z, 'cV[R]_(m z) -> R.
Variables (G R_X W_2 : R).
Hypotheses (n_gt0 : (0 < n)%N) (G_ge0 : 0 <= G).
Hypotheses (R_X_ge0 : 0 <= R_X) (W_2_ge0 : 0 <= W_2).
Hypothesis phi_lipschitz : lipschitz_in_scores phi G.
Hypothesis norms : forall z j, norm (@x z j) <= R_X.

(* gamma is the gradient of phi in the scores: phi is convex. *)
Variable gamma : forall z, 'cV[R]_(m z) -> 'cV[R]_(m z).
Hypothesis phi_gradient : forall z (s s' : 'cV[R]_(m z)),
  phi s + \sum_j gamma s j 0 * (s' j 0 - s j 0) <= phi s'.

Let loss := loss_of x phi.

(* The gradient X' gamma in w *)
Definition gradient (w : E) z : E :=
  \sum_j gamma (scores_of x z w) j 0 *: x j.

Lemma gradient_subgradient w z u : loss w z + dot (gradient w z) (u - w) <= loss u z.
Proof.
apply: le_trans (phi_gradient (scores_of x z w) (scores_of x z u)).
rewrite ler_add2l dot_suml; apply: ler_sum => j _.
by rewrite dotZl !mxE dotBr.
Qed.

(* The l1 norm of the gradient in the scores is at most G. *)
Lemma gamma_le z (s : 'cV[R]_(m z)) : \sum_j `|gamma s j 0| <= G.
Proof.
pose s' : 'cV[R]_(m z) := s + \col_j Num.sg (gamma s j 0).
apply: (@le_trans _ _ (phi s' - phi s)).
  rewrite ler_subr_addl; apply: le_trans (phi_gradient s s').
  rewrite ler_add2l; apply: ler_sum => j _.
  by rewrite !mxE addrAC subrr add0r normrEsg mulrC.
apply: le_trans (ler_norm _) _; rewrite -[G]mulr1.
apply: phi_lipschitz => [|j]; first exact: ler01.
by rewrite !mxE addrAC subrr add0r normr_sg lern1 leq_b1.
Qed.

Lemma gradient_le w z : norm (gradient w z) <= G * R_X.
Proof.
apply: (@le_trans _ _ (\sum_j `|gamma (scores_of x z w) j 0| * R_X)); last first.
  by rewrite -mulr_suml ler_wpmul2r ?gamma_le.
rewrite /gradient; elim/big_rec2: _ => [|j a b _ le_a].
  by rewrite /norm /norm2 dot0l sqrtr0.
apply: le_trans (normD _ _) _; apply: ler_add => //.
rewrite /norm norm2Z sqrtrM ?sqr_ge0 // sqrtr_sqr.
by rewrite ler_wpmul2l ?normr_ge0 ?norms.
Qed.

(* The step of the proof *)
Definition step_5 : R := W_2 / (G * R_X * Num.sqrt (2%:R * n%:R)).

Hypothesis loss_ok : forall w, integrable1 P (loss w).

(* The expectations of the losses of all iterates, and of the risk of their mean,
   exist. *)
Hypothesis iterate_ok : forall i : 'I_n, integrable P (fun S =>
  loss (iterate P gradient step_5 S i) (S i)).
Hypothesis mean_iterate_ok : integrable P (fun S : sample Z n =>
  mean P (loss (mean_iterate P gradient step_5 S))).

(* With three quarters of the printed bound *)
Theorem lists_theorem_5_with_3_quarters w : norm w <= W_2 ->
  expect P (fun S : sample Z n => mean P (loss (mean_iterate P gradient step_5 S)))
      - mean P (loss w)
    <= 3%:R / 4%:R * (G * W_2 * R_X * Num.sqrt (2%:R / n%:R)).
Proof.
move=> w_le; set L := G * R_X; have L_ge0 : 0 <= L by apply: mulr_ge0.
have n0 : 0 < n%:R :> R by rewrite ltr0n.
have loss_diff u u' z : loss u z - loss u' z <= L * norm (u - u').
  exact: (loss_le gradient_subgradient gradient_le).
rewrite ler_subl_addl; case: (ltP 0 (L * W_2)) => [LW_gt0|LW_le0]; last first.
  (* The step is 0, and so are all iterates. *)
  have LW0 : L * W_2 = 0 by apply/eqP; rewrite eq_le LW_le0 mulr_ge0.
  have bound_ge0 : 0 <= 3%:R / 4%:R * (G * W_2 * R_X * Num.sqrt (2%:R / n%:R)).
    by rewrite !mulr_ge0 ?sqrtr_ge0 ?invr_ge0 ?ler0n.
  have step0 : step_5 = 0.
    rewrite /step_5 -/L; case/eqP: LW0; rewrite mulf_eq0 => /orP[]/eqP->.
      by rewrite mul0r invr0 mulr0.
    by rewrite mul0r.
  have iterate0 (S : sample Z n) t : iterate P gradient step_5 S t = 0.
    by rewrite /iterate; elim: t => //= t ->; rewrite step0 scale0r subr0.
  have mean0 (S : sample Z n) : mean_iterate P gradient step_5 S = 0.
    rewrite /mean_iterate big1 ?scaler0 // => t _; exact: iterate0.
  apply: expect_le_const => // S; rewrite mean0.
  apply: ler_paddr => //.
  apply: expect_le => [||S1]; try exact: loss_ok.
  rewrite -subr_le0; apply: le_trans (loss_diff _ _ _) _.
  by rewrite sub0r normN -LW0 ler_wpmul2l.
have W_gt0 : 0 < W_2.
  by rewrite lt_def W_2_ge0 andbT; apply: contraTneq LW_gt0 => ->; rewrite mulr0 ltxx.
have L_gt0 : 0 < L.
  by rewrite lt_def L_ge0 andbT; apply: contraTneq LW_gt0 => ->; rewrite mul0r ltxx.
set t := Num.sqrt (2%:R / n%:R).
have t_gt0 : 0 < t by rewrite sqrtr_gt0 divr_gt0 ?ltr0n.
have t2 : t ^+ 2 = 2%:R / n%:R by rewrite sqr_sqrtr // divr_ge0 ?ler0n.
have root : Num.sqrt (2%:R * n%:R) = n%:R * t.
  rewrite -[LHS]ger0_norm ?sqrtr_ge0 // -[RHS]ger0_norm ?mulr_ge0 ?ltW //.
  apply/eqP; rewrite -sqrtr_sqr -[X in _ == X]sqrtr_sqr.
  apply/eqP; congr Num.sqrt; rewrite sqr_sqrtr ?mulr_ge0 ?ler0n // exprMn t2.
  by field; rewrite gt_eqF.
have step_gt0 : 0 < step_5.
  by rewrite divr_gt0 // mulr_gt0 // sqrtr_gt0 mulr_gt0 ?ltr0n.
apply: le_trans (risk_of_mean_iterate gradient_subgradient gradient_le n_gt0
  loss_ok iterate_ok mean_iterate_ok w step_gt0) _.
rewrite ler_add2l; apply: (@le_trans _ _
  (n%:R^-1 * (W_2 ^+ 2 / (2%:R * step_5) + step_5 / 2%:R * (n%:R * L ^+ 2)))).
  rewrite ler_wpmul2l ?invr_ge0 ?ler0n // ler_add2r ler_wpmul2r //.
    by rewrite invr_ge0 mulr_ge0 ?ler0n // ltW.
  by rewrite -sqr_norm ler_sqr ?nnegrE ?norm_ge0.
have n_t : n%:R = 2%:R / t ^+ 2 by rewrite t2; field; rewrite gt_eqF.
rewrite /step_5 root -/L n_t le_eqVlt; apply/orP; left; apply/eqP.
have -> : G * W_2 * R_X = L * W_2 by rewrite /L mulrAC.
by field; rewrite !gt_eqF.
Qed.

(* Theorem 5 as printed, for every w in the ball of radius W_2 *)
Theorem lists_theorem_5 w : norm w <= W_2 ->
  expect P (fun S : sample Z n => mean P (loss (mean_iterate P gradient step_5 S)))
      - mean P (loss w)
    <= G * W_2 * R_X * Num.sqrt (2%:R / n%:R).
Proof.
move=> w_le; apply: le_trans (lists_theorem_5_with_3_quarters w_le) _.
rewrite ler_pimull ?mulr_ge0 ?sqrtr_ge0 //.
by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
Qed.

End Theorem5.

(* ------------------------------------------------------------------------- *)
(* A false neighbour *)

(* Two queries with one document and the loss - s: the iterates are 0 and 1/2, and
   the mean 1/4 has the excess risk 3/4, which is more than 1 / sqrt(2). *)
Section OneQuery.

Variable R : rcfType.

Definition slope (z : unit) (s : 'cV[R]_1) : R := - s 0 0.
Definition slope_gradient (z : unit) (s : 'cV[R]_1) : 'cV[R]_1 := const_mx (-1).

Theorem lists_theorem_5_needs_its_factor :
  let P := law_of (certain R) in
  let x := one_document R in
  let loss := loss_of x slope in
  let w_hat (S : sample unit 2) :=
    mean_iterate P (gradient x slope_gradient) (step_5 2 1 1 1) S in
  [/\ lipschitz_in_scores slope 1, forall z j, norm (x z j) <= 1,
      forall z (s s' : 'cV[R]_1),
        slope z s + \sum_j slope_gradient z s j 0 * (s' j 0 - s j 0) <= slope z s'
    & 1 * 1 * 1 / Num.sqrt 2%:R
      < expect P (fun S => mean P (loss (w_hat S))) - mean P (loss (1 : R))].
Proof.
have step : step_5 2 1 1 1 = 2%:R^-1 :> R.
  rewrite /step_5 !mul1r -natrM; congr _^-1.
  by rewrite -[(2 * 2)%N]/(2 ^ 2)%N natrX sqrtr_sqr ger0_norm ?ler0n.
split.
- move=> z s s' d d_ge0 /(_ 0) le_d; rewrite /slope -opprD normrN mul1r.
  exact: le_d.
- by move=> z j; rewrite norm_line normr1.
- by move=> z s s'; rewrite /slope big_ord1 mxE mulN1r opprB addKr.
have grad w z : gradient (one_document R) slope_gradient w z = (-1 : R).
  by rewrite /gradient big_ord1 mxE /one_document /=; exact: mulr1.
have mean_quarter (S : sample unit 2) : mean_iterate (law_of (certain R))
    (gradient (one_document R) slope_gradient) (step_5 2 1 1 1) S
    = (4%:R^-1 : R).
  rewrite /mean_iterate !big_ord_recl big_ord0 /iterate /= !grad step.
  suff sum (a b : R) : a = 2%:R^-1 -> b = 4%:R^-1 ->
      2%:R^-1 * (0 + (0 - a * -1 + 0)) = b.
    exact: sum.
  by move=> -> ->; field.
have mean_loss (w : line R) : mean (law_of (certain R))
    (loss_of (one_document R) slope w) = - (w : R).
  rewrite mean_law_of (eq_bigr (fun=> - (w : R))) => [|z _].
    by rewrite sumr_const card_unit.
  by rewrite mul1r /loss_of /slope /scores_of mxE /dot /= mul1r.
have mean_risk : expect (law_of (certain R)) (fun S : sample unit 2 =>
    mean (law_of (certain R)) (loss_of (one_document R) slope
      (mean_iterate (law_of (certain R))
        (gradient (one_document R) slope_gradient) (step_5 2 1 1 1) S)))
    = - 4%:R^-1.
  rewrite -[RHS](finite_expect_const (certain R) 2).
  apply: (@finite_expect_ext _ _ (certain R) 2 (fun S => mean _ _)) => S.
  by rewrite mean_quarter mean_loss.
rewrite mean_loss [X in _ < X - _]mean_risk !mul1r.
have -> : - 4%:R^-1 - - 1 = 3%:R / 4%:R :> R by field.
have root_gt0 : 0 < Num.sqrt 2%:R :> R by rewrite sqrtr_gt0 ltr0n.
rewrite -ltr_sqr ?nnegrE ?invr_ge0 ?divr_ge0 ?ler0n ?(ltW root_gt0) //.
rewrite exprVn sqr_sqrtr ?ler0n // -subr_gt0.
have -> : (3%:R / 4%:R) ^+ 2 - 2%:R^-1 = 16%:R^-1 :> R by field.
by rewrite invr_gt0 ltr0n.
Qed.

End OneQuery.
