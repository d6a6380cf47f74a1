(* The expected risk of minimisers of a regularised empirical risk: equation (26)
   and Theorems 8 and 11 of `slam`, which are Theorems 6 and 18 of `lists`.

   A sample is one of n independent queries, of any law (finite_laws.v). Weights w
   are vectors of any space with an inner product, as in perceptron_bound.v.

   Contents
     Norms                 convex functions, Lipschitz functions, minimisers
     Stability             an algorithm whose losses change little if one query is
                           replaced has little more risk than empirical risk
     Strong convexity      minimisers are stable; equation (26)
     A ball                Theorem 11, for the lambda of the paper
     Losses of scores      Theorem 8 of `slam`, and Theorem 6 of `lists`

   The file wrong_neighbours_of_risk.v proves that the rates are those of the
   theorems: no bound of a smaller order is true.
*)

From formal Require Import library perceptron_bound finite_laws.
From mathcomp Require Import perm.

(* ------------------------------------------------------------------------- *)
(* Norms *)

Section Functions.

Variables (R : rcfType) (E : space R).
Implicit Types (w x y : E) (W : E -> Prop) (f : E -> R) (t : R).

(* ||x|| *)
Definition norm x : R := Num.sqrt (norm2 x).

Lemma norm_ge0 x : 0 <= norm x.
Proof. exact: sqrtr_ge0. Qed.

Lemma sqr_norm x : norm x ^+ 2 = norm2 x.
Proof. by rewrite sqr_sqrtr ?norm2_ge0. Qed.

Lemma normN x : norm (- x) = norm x.
Proof. by rewrite /norm norm2N. Qed.

Lemma norm_sym x y : norm (x - y) = norm (y - x).
Proof. by rewrite -normN opprB. Qed.

Lemma dot_le_norm x y : `|dot x y| <= norm x * norm y.
Proof.
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?norm_ge0 ?normr_ge0 //.
by rewrite real_normK ?num_real // exprMn !sqr_norm CauchySchwarz.
Qed.

Lemma normD x y : norm (x + y) <= norm x + norm y.
Proof.
rewrite -ler_sqr ?nnegrE ?addr_ge0 ?norm_ge0 //.
rewrite sqr_norm norm2D sqrrD !sqr_norm ler_add2r ler_add2l ler_muln2r /=.
exact: le_trans (ler_norm _) (dot_le_norm x y).
Qed.

Lemma normB x y : norm (x - y) <= norm x + norm y.
Proof. by rewrite -(normN y) normD. Qed.

(* w lies in the ball of radius B. *)
Definition ball (B : R) w : Prop := norm w <= B.

Definition convex_set W := forall w w' t, W w -> W w' -> 0 <= t <= 1 ->
  W (t *: w + (1 - t) *: w').

Definition convex_on W f := forall w w' t, W w -> W w' -> 0 <= t <= 1 ->
  f (t *: w + (1 - t) *: w') <= t * f w + (1 - t) * f w'.

Definition strongly_convex_on W (lambda : R) f :=
  forall w w' t, W w -> W w' -> 0 <= t <= 1 ->
  f (t *: w + (1 - t) *: w')
    <= t * f w + (1 - t) * f w' - lambda / 2%:R * (t * (1 - t)) * norm2 (w - w').

Definition lipschitz_on W (L : R) f :=
  forall w w', W w -> W w' -> `|f w - f w'| <= L * norm (w - w').

Definition minimiser_on W f w := W w /\ forall w', W w' -> f w <= f w'.

Lemma normZ t x : 0 <= t -> norm (t *: x) = t * norm x.
Proof.
by move=> t_ge0; rewrite /norm norm2Z sqrtrM ?sqr_ge0 // sqrtr_sqr ger0_norm.
Qed.

Lemma ball_convex B : convex_set (ball B).
Proof.
move=> w w' t w_B w'_B /andP[t_ge0 t_le1]; rewrite /ball.
apply: le_trans (normD _ _) _; rewrite !normZ ?subr_ge0 //.
have -> : B = t * B + (1 - t) * B by ring.
by apply: ler_add; rewrite ler_wpmul2l ?subr_ge0.
Qed.

(* ||t w + (1 - t) w'||^2 = t ||w||^2 + (1 - t) ||w'||^2 - t (1 - t) ||w - w'||^2 *)
Lemma norm2_between w w' t :
  norm2 (t *: w + (1 - t) *: w')
    = t * norm2 w + (1 - t) * norm2 w' - t * (1 - t) * norm2 (w - w').
Proof. by rewrite (norm2D (t *: w)) (norm2B w) !norm2Z dotZl dotZr; ring. Qed.

(* A convex function and (lambda/2) ||w||^2 together are strongly convex. *)
Lemma regularised_strongly_convex W lambda f : convex_on W f ->
  strongly_convex_on W lambda (fun w => lambda / 2%:R * norm2 w + f w).
Proof.
move=> f_convex w w' t w_W w'_W t01; have := f_convex w w' t w_W w'_W t01.
rewrite norm2_between -subr_ge0 => f_le; rewrite -subr_ge0.
by apply: le_trans f_le _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* A strongly convex function grows with the distance from its minimiser. *)
Lemma growth W lambda f w0 w : convex_set W -> strongly_convex_on W lambda f ->
  minimiser_on W f w0 -> W w ->
  lambda / 2%:R * norm2 (w - w0) <= f w - f w0.
Proof.
move=> W_convex f_convex [w0_W least] w_W.
set c := lambda / 2%:R * norm2 _; set g := f w - f w0.
have le_g t : 0 < t -> t <= 1 -> c * (1 - t) <= g.
  move=> t_gt0 t_le1; have t01 : 0 <= t <= 1 by rewrite ltW.
  have := le_trans (least _ (W_convex w w0 t w_W w0_W t01))
    (f_convex w w0 t w_W w0_W t01).
  move=> ge0; rewrite -subr_ge0 in ge0; rewrite -subr_ge0 -(pmulr_rge0 _ t_gt0).
  apply: le_trans ge0 _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by rewrite /c /g; ring.
rewrite leNgt; apply/negP => g_lt.
have g_ge0 : 0 <= g by rewrite subr_ge0 least.
have c_gt0 : 0 < c := le_lt_trans g_ge0 g_lt.
have c2_gt0 : 0 < 2%:R * c by rewrite mulr_gt0 ?ltr0n.
have t_le1 : (c - g) / (2%:R * c) <= 1.
  rewrite ler_pdivr_mulr // mul1r mulr_natl mulr2n ler_add2l.
  by apply: le_trans (ltW c_gt0); rewrite oppr_le0.
have := le_g ((c - g) / (2%:R * c)) _ t_le1.
rewrite divr_gt0 ?subr_gt0 // => /(_ isT).
have -> : c * (1 - (c - g) / (2%:R * c)) = (c + g) / 2%:R.
  by field; rewrite gt_eqF.
by rewrite ler_pdivr_mulr ?ltr0n // mulr_natr mulr2n ler_add2r leNgt g_lt.
Qed.

End Functions.

(* ------------------------------------------------------------------------- *)
(* Stability *)

Section Stability.

Variables (R : realFieldType) (Z : Type) (P : law R Z) (H : Type) (n : nat).
Variables (g : H -> Z -> R) (A : sample Z n -> H).

(* The mean loss of a sample *)
Definition empirical (h : H) (S : sample Z n) : R := (\sum_i g h (S i)) / n%:R.

(* A finds h for each sample in such a way that the losses of A S for a query of
   the sample, and for one more, have expectations. *)
Definition measurable :=
  integrable P (fun S : sample Z n.+1 => g (A (rest S)) (S ord0))
  /\ forall i, integrable P (fun S => g (A S) (S i)).

Hypothesis n_gt0 : (0 < n)%N.
Hypothesis A_ok : measurable.
Hypothesis g_ok : forall S, integrable1 P (g (A S)).

Let n_neq0 : n%:R != 0 :> R.
Proof. by rewrite pnatr_eq0 -lt0n. Qed.

(* The expected risk, with one more query for which it is the loss *)
Lemma expected_risk :
  integrable P (fun S => mean P (g (A S)))
  /\ expect P (fun S => mean P (g (A S)))
     = expect P (fun S : sample Z n.+1 => g (A (rest S)) (S ord0)).
Proof.
have [new_ok _] := A_ok.
pose f (S : sample Z n.+1) := g (A (rest S)) (S ord0).
have f_extend S : (fun S1 : sample Z 1 => g (A S) (S1 ord0))
    =1 (fun S1 => f (extend (S1 ord0) S)).
  by move=> S1; rewrite /f rest_extend extend0.
have f1_ok S : integrable P (fun S1 : sample Z 1 => f (extend (S1 ord0) S)).
  exact: integrable_ext (f_extend S) (g_ok S).
have f_mean : (fun S => expect P (fun S1 : sample Z 1 => f (extend (S1 ord0) S)))
    =1 (fun S => mean P (g (A S))).
  by move=> S; symmetry; apply: expect_ext (f_extend S) (g_ok S).
have first_ok := integrable_first new_ok f1_ok.
split; first exact: integrable_ext f_mean first_ok.
by rewrite -(expect_ext f_mean first_ok) (expect_first new_ok f1_ok).
Qed.

Lemma empirical_ok : integrable P (fun S => empirical (A S) S).
Proof.
have [_ own_ok] := A_ok.
apply: integrable_ext (integrableZ n%:R^-1 (integrable_sum (index_enum _) own_ok)).
by move=> S; rewrite mulrC.
Qed.

(* If no loss changes by more than beta when the query for which it is the loss is
   replaced, the expected risk is at most the expected empirical risk and beta. *)
Theorem risk_of_stable_algorithm (beta : R) :
  (forall (S : sample Z n) i z,
     g (A (replace i z S)) (S i) - g (A S) (S i) <= beta) ->
  expect P (fun S => mean P (g (A S)))
    <= expect P (fun S => empirical (A S) S) + beta.
Proof.
move=> stable; have [new_ok own_ok] := A_ok; have [_ ->] := expected_risk.
pose swap i (S : sample Z n.+1) := exchange ord0 (lift ord0 i) S.
pose new S : R := g (A (rest S)) (S ord0).
have swap_ok i : integrable P (fun S => new (swap i S)).
  exact: integrable_exchange.
have sum_ok := integrable_sum (index_enum [finType of 'I_n]) swap_ok.
have rest_ok := integrable_rest empirical_ok.
have -> : expect P new = expect P (fun S => n%:R^-1 * \sum_i new (swap i S)).
  rewrite expectZ // expect_sum //.
  rewrite (eq_bigr (fun=> expect P new)) => [|i _]; last exact: expect_exchange.
  by rewrite sumr_const card_ord -[X in _ * X]mulr_natl mulKf.
rewrite -(expect_rest empirical_ok) addrC -ler_subl_addr -expectB //; last first.
  exact: integrableZ.
apply: expect_le_const => [|S]; first by apply: integrableB => //; exact: integrableZ.
rewrite /empirical [X in _ - X]mulrC -mulrBr -sumrB ler_pdivr_mull ?ltr0n //.
have -> : n%:R * beta = \sum_(i < n) beta by rewrite sumr_const card_ord mulr_natl.
apply: ler_sum => i _; rewrite /new /swap rest_exchange ffunE tpermL.
by have := stable (rest S) i (S ord0); rewrite [rest S i]ffunE.
Qed.

End Stability.

(* ------------------------------------------------------------------------- *)
(* Strong convexity *)

Section StronglyConvex.

Variables (R : rcfType) (E : space R) (Z : Type) (P : law R Z) (n : nat).
Variables (W : E -> Prop) (lambda L : R).
Hypotheses (n_gt0 : (0 < n)%N) (lambda_gt0 : 0 < lambda) (L_ge0 : 0 <= L).
Hypothesis W_convex : convex_set W.

(* The objective is the mean of a loss f, of which the part g is Lipschitz, and
   the rest h does not depend on the query. *)
Variables (h : E -> R) (g : E -> Z -> R).
Let f w z := h w + g w z.
Hypothesis f_convex : forall z, strongly_convex_on W lambda (f^~ z).
Hypothesis g_lipschitz : forall z, lipschitz_on W L (g^~ z).

Variable w_hat : sample Z n -> E.
Hypothesis least : forall S, minimiser_on W (fun w => empirical f w S) (w_hat S).

Let n_gt0R : 0 < n%:R :> R.
Proof. by rewrite ltr0n. Qed.

Lemma empirical_split w (S : sample Z n) : empirical f w S = h w + empirical g w S.
Proof.
rewrite /empirical big_split /= sumr_const card_ord mulrDl -(mulr_natr (h w)).
by rewrite mulfK // gt_eqF.
Qed.

Lemma empirical_strongly_convex (S : sample Z n) :
  strongly_convex_on W lambda (fun w => empirical f w S).
Proof.
move=> w w' t w_W w'_W t01; rewrite /empirical ler_pdivr_mulr //.
set c := _ * _ * norm2 _; set a := \sum_i f w _; set b := \sum_i f w' _.
have -> : (t * (a / n%:R) + (1 - t) * (b / n%:R) - c) * n%:R
    = t * a + (1 - t) * b - \sum_(i < n) c.
  by rewrite sumr_const card_ord -[c *+ n]mulr_natr; field; rewrite gt_eqF.
rewrite /a /b !mulr_sumr -big_split -sumrB; apply: ler_sum => i _.
exact: f_convex.
Qed.

(* The sums of two samples that differ in one query *)
Lemma empirical_replace w (S : sample Z n) i z :
  empirical f w (replace i z S)
    = empirical f w S + (f w z - f w (S i)) / n%:R.
Proof.
rewrite /empirical -mulrDl; congr (_ / _).
rewrite (bigD1 i) //= [in RHS](bigD1 i) //= ffunE eqxx.
rewrite (eq_bigr (fun k => f w (S k))) => [|k k_i]; last by rewrite ffunE (negPf k_i).
suff swap (x y s : R) : x + s = y + s + (x - y) by exact: swap.
by ring.
Qed.

Lemma minimiser_stable (S : sample Z n) i z :
  norm (w_hat (replace i z S) - w_hat S) <= 2%:R * L / (lambda * n%:R).
Proof.
set u := w_hat S; set v := w_hat _; set d := norm _.
have [u_W _] := least S; have [v_W _] := least (replace i z S).
have to_v := growth W_convex (empirical_strongly_convex S) (least S) v_W.
have to_u := growth W_convex (empirical_strongly_convex _) (least (replace i z S)) u_W.
have := ler_add to_v to_u; rewrite -/u -/v !empirical_replace.
have -> : norm2 (u - v) = norm2 (v - u) by rewrite -norm2N opprB.
rewrite -sqr_norm -/d.
have -> : lambda / 2%:R * d ^+ 2 + lambda / 2%:R * d ^+ 2 = lambda * d ^+ 2 by field.
set a := empirical f v S; set b := empirical f u S.
have -> : a - b + (b + (f u z - f u (S i)) / n%:R - (a + (f v z - f v (S i)) / n%:R))
    = ((g u z - g v z) + (g v (S i) - g u (S i))) / n%:R.
  by rewrite /f; field; rewrite gt_eqF.
have le_d w w' z' : W w -> W w' -> norm (w - w') = d -> g w z' - g w' z' <= L * d.
  move=> w_W w'_W <-; exact: le_trans (ler_norm _) (g_lipschitz z' w_W w'_W).
move=> le_sum.
have le_2L : lambda * d ^+ 2 <= 2%:R * L * d / n%:R.
  apply: le_trans le_sum _; rewrite ler_pmul2r ?invr_gt0 // -mulrA mulr_natl mulr2n.
  by apply: ler_add; apply: le_d => //; rewrite norm_sym.
rewrite ler_pdivl_mulr ?mulr_gt0 //; case: (ltP 0 d) => [d_gt0|d_le0]; last first.
  apply: (@le_trans _ _ 0); last by rewrite mulr_ge0 ?ler0n.
  by rewrite mulr_le0_ge0 // ltW ?mulr_gt0.
rewrite ler_pdivl_mulr // expr2 in le_2L.
rewrite -(ler_pmul2r d_gt0); apply: le_trans le_2L.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Hypothesis h_ge0 : forall w, W w -> 0 <= h w.
Hypothesis g_ok : forall w, W w -> integrable1 P (g w).
Hypothesis w_hat_ok : measurable P g w_hat.

(* The expected risk of the minimiser, against any w *)
Lemma risk_of_minimiser w : W w ->
  expect P (fun S => mean P (g (w_hat S)))
    <= mean P (g w) + h w + 2%:R * L ^+ 2 / (lambda * n%:R).
Proof.
move=> w_W; have w_hat_W S : W (w_hat S) by case: (least S).
pose beta := 2%:R * L ^+ 2 / (lambda * n%:R).
apply: le_trans (risk_of_stable_algorithm n_gt0 w_hat_ok _ (beta := beta) _) _.
- by move=> S; apply: g_ok.
- move=> S i z; apply: le_trans (ler_norm _) _.
  apply: le_trans (g_lipschitz _ (w_hat_W _) (w_hat_W _)) _.
  apply: le_trans (ler_wpmul2l L_ge0 (minimiser_stable S i z)) _.
  by rewrite le_eqVlt /beta; apply/orP; left; apply/eqP; field; rewrite !gt_eqF.
rewrite ler_add2r.
have own i : integrable P (fun S : sample Z n => g w (S i))
    /\ expect P (fun S : sample Z n => g w (S i)) = mean P (g w).
  exact: expect_at (g_ok w_W).
have own_ok i := (own i).1.
have sum_ok := integrable_sum (index_enum [finType of 'I_n]) own_ok.
have mean_own : (fun S : sample Z n => n%:R^-1 * \sum_i g w (S i))
    =1 empirical g w.
  by move=> S; rewrite mulrC.
have scaled_ok := integrableZ n%:R^-1 sum_ok.
have emp_ok := integrable_ext mean_own scaled_ok.
apply: (@le_trans _ _ (expect P (fun S => empirical g w S + h w))).
  apply: expect_le => [||S]; first exact: empirical_ok.
    exact: integrableD emp_ok (integrable_const _ _ _).
  have [_ /(_ w w_W)] := least S; rewrite !empirical_split addrC => le_w.
  rewrite [X in _ <= X]addrC; apply: le_trans le_w.
  by rewrite ler_addl h_ge0.
rewrite (expectD emp_ok (integrable_const _ _ _)) expect_const ler_add2r.
rewrite -(expect_ext mean_own scaled_ok) (expectZ _ sum_ok) (expect_sum _ own_ok).
rewrite (eq_bigr (fun=> mean P (g w))) => [|i _]; last exact: (own i).2.
by rewrite sumr_const card_ord -[X in _ * X]mulr_natl mulKf // gt_eqF.
Qed.

End StronglyConvex.

(* Equation (26), the theorem of Shalev-Shwartz, Shamir, Srebro and Sridharan in
   expectation, with 2 in place of 4. It holds for every w of W, and so for the
   one that has the least risk. *)
Theorem slam_equation_26_with_2 (R : rcfType) (E : space R) (Z : Type)
    (P : law R Z) (n : nat) (W : E -> Prop) (lambda L : R) (f : E -> Z -> R)
    (w_hat : sample Z n -> E) (w : E) :
  (0 < n)%N -> 0 < lambda -> 0 <= L -> convex_set W ->
  (forall z, strongly_convex_on W lambda (f^~ z)) ->
  (forall z, lipschitz_on W L (f^~ z)) ->
  (forall w, W w -> integrable1 P (f w)) -> measurable P f w_hat ->
  (forall S, minimiser_on W (fun w => empirical f w S) (w_hat S)) ->
  W w ->
  expect P (fun S => mean P (f (w_hat S))) - mean P (f w)
    <= 2%:R * L ^+ 2 / (lambda * n%:R).
Proof.
move=> n_gt0 lambda_gt0 L_ge0 W_convex f_convex f_lip f_ok w_hat_ok least w_W.
rewrite ler_subl_addl -[mean P (f w)]addr0.
have same u (S : sample Z n) : empirical (fun u z => 0 + f u z) u S = empirical f u S.
  by congr (_ / _); apply: eq_bigr => i _; rewrite add0r.
apply: (risk_of_minimiser n_gt0 lambda_gt0 L_ge0 W_convex (h := fun=> 0)) => //.
- by move=> z u u' t; rewrite !add0r; apply: f_convex.
- move=> S; have [in_W le_S] := least S; split=> // u u_W.
  by rewrite !same le_S.
Qed.

Theorem slam_equation_26 (R : rcfType) (E : space R) (Z : Type)
    (P : law R Z) (n : nat) (W : E -> Prop) (lambda L : R) (f : E -> Z -> R)
    (w_hat : sample Z n -> E) (w : E) :
  (0 < n)%N -> 0 < lambda -> 0 <= L -> convex_set W ->
  (forall z, strongly_convex_on W lambda (f^~ z)) ->
  (forall z, lipschitz_on W L (f^~ z)) ->
  (forall w, W w -> integrable1 P (f w)) -> measurable P f w_hat ->
  (forall S, minimiser_on W (fun w => empirical f w S) (w_hat S)) ->
  W w ->
  expect P (fun S => mean P (f (w_hat S))) - mean P (f w)
    <= 4%:R * L ^+ 2 / (lambda * n%:R).
Proof.
move=> n_gt0 lambda_gt0 L_ge0 W_convex f_convex f_lip f_ok w_hat_ok least w_W.
apply: le_trans (slam_equation_26_with_2 n_gt0 lambda_gt0 L_ge0 W_convex f_convex
  f_lip f_ok w_hat_ok least w_W) _.
rewrite ler_pmul2r ?invr_gt0 ?mulr_gt0 ?ltr0n //.
by rewrite ler_wpmul2r ?sqr_ge0 // ler_nat.
Qed.

(* ------------------------------------------------------------------------- *)
(* A ball *)

Section Ball.

Variables (R : rcfType) (E : space R) (Z : Type) (P : law R Z) (n : nat).
Variables (W : E -> Prop) (B L : R).
Hypotheses (n_gt0 : (0 < n)%N) (B_ge0 : 0 <= B) (L_ge0 : 0 <= L).
Hypotheses (W_convex : convex_set W) (W_bounded : forall w, W w -> norm w <= B).

(* The lambda of Theorem 11 *)
Definition lambda_11 : R :=
  Num.sqrt (4%:R * L ^+ 2 / n%:R / (B ^+ 2 / 2%:R + 4%:R * B ^+ 2 / n%:R)).

(* It is of the order of 1 / sqrt(n), as Theorem 8 says. *)
Lemma lambda_11_order :
  lambda_11 <= 2%:R * Num.sqrt 2%:R * L / B / Num.sqrt n%:R.
Proof.
have n0 : 0 < n%:R :> R by rewrite ltr0n.
move: B_ge0; rewrite le_eqVlt => /predU1P[B0|B_gt0].
  rewrite /lambda_11 -B0 expr0n /= mulr0 !mul0r addr0 invr0 !mulr0 sqrtr0.
  by rewrite mul0r.
have B2_gt0 : 0 < B ^+ 2 by rewrite exprn_gt0.
rewrite -ler_sqr ?nnegrE ?sqrtr_ge0 //; last first.
  by rewrite !divr_ge0 ?mulr_ge0 ?ler0n ?sqrtr_ge0 // ltW.
have a_gt0 : 0 < B ^+ 2 / 2%:R + 4%:R * B ^+ 2 / n%:R.
  by rewrite addr_gt0 ?divr_gt0 ?mulr_gt0 ?ltr0n.
rewrite sqr_sqrtr; last by rewrite !divr_ge0 ?mulr_ge0 ?sqr_ge0 ?ler0n // ltW.
rewrite ler_pdivr_mulr // !exprMn !exprVn !sqr_sqrtr ?ler0n //.
have -> : 2%:R ^+ 2 * 2%:R * L ^+ 2 / B ^+ 2 / n%:R
      * (B ^+ 2 / 2%:R + 4%:R * B ^+ 2 / n%:R)
    = 4%:R * L ^+ 2 / n%:R + 32%:R * L ^+ 2 / n%:R ^+ 2.
  by field; rewrite !gt_eqF.
by rewrite ler_addl divr_ge0 ?mulr_ge0 ?sqr_ge0 ?ler0n.
Qed.

(* lambda B^2 / 2 + 2 L^2 / (lambda n) is at most the bound (29). *)
Lemma bound_29 : 0 < B -> 0 < L -> 0 < lambda_11 /\
  lambda_11 / 2%:R * B ^+ 2 + 2%:R * L ^+ 2 / (lambda_11 * n%:R)
    <= 2%:R * L * B * (8%:R / n%:R + Num.sqrt (2%:R / n%:R)).
Proof.
move=> B_gt0 L_gt0; have n0 : 0 < n%:R :> R by rewrite ltr0n.
have [B2_gt0 L2_gt0] : 0 < B ^+ 2 /\ 0 < L ^+ 2 by rewrite !exprn_gt0.
pose a : R := B ^+ 2 / 2%:R + 4%:R * B ^+ 2 / n%:R.
have a_gt0 : 0 < a by rewrite addr_gt0 ?divr_gt0 ?mulr_gt0 ?ltr0n.
have l2 : lambda_11 ^+ 2 = 4%:R * L ^+ 2 / n%:R / a.
  by rewrite sqr_sqrtr // !divr_ge0 ?mulr_ge0 ?sqr_ge0 ?ler0n // ltW.
have l_gt0 : 0 < lambda_11.
  by rewrite sqrtr_gt0 !divr_gt0 ?mulr_gt0 ?ltr0n.
split=> //; set l := lambda_11 in l2 l_gt0 *; set t := Num.sqrt (2%:R / n%:R).
have t_ge0 : 0 <= t by apply: sqrtr_ge0.
have t2 : t ^+ 2 = 2%:R / n%:R by rewrite sqr_sqrtr // divr_ge0 ?ler0n.
have bias : l / 2%:R * B ^+ 2 <= L * B * t.
  rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?invr_ge0 ?ler0n ?sqr_ge0 ?(ltW l_gt0) //.
  rewrite !exprMn l2 t2.
  have -> : 4%:R * L ^+ 2 / n%:R / a * 2%:R^-1 ^+ 2 * (B ^+ 2) ^+ 2
      = (L ^+ 2 * B ^+ 2 / n%:R) * (B ^+ 2 / a) by field; rewrite !gt_eqF.
  have -> : L ^+ 2 * B ^+ 2 * (2%:R / n%:R) = (L ^+ 2 * B ^+ 2 / n%:R) * 2%:R.
    by field; rewrite !gt_eqF.
  rewrite ler_wpmul2l ?divr_ge0 ?mulr_ge0 ?sqr_ge0 ?ler0n // ler_pdivr_mulr //.
  have -> : 2%:R * a = B ^+ 2 + 8%:R * B ^+ 2 / n%:R.
    by rewrite /a; field; rewrite gt_eqF.
  by rewrite ler_addl divr_ge0 ?mulr_ge0 ?sqr_ge0 ?ler0n.
have sampling : 2%:R * L ^+ 2 / (l * n%:R) <= L * B * (t / 2%:R + t ^+ 2).
  have right_ge0 : 0 <= L * B * (t / 2%:R + t ^+ 2).
    by apply: mulr_ge0; rewrite ?mulr_ge0 ?addr_ge0 ?divr_ge0 ?sqr_ge0 ?ler0n.
  rewrite -ler_sqr ?nnegrE //; last first.
    by rewrite divr_ge0 ?mulr_ge0 ?ler0n ?sqr_ge0 ?(ltW l_gt0).
  have -> : (2%:R * L ^+ 2 / (l * n%:R)) ^+ 2
      = 4%:R * L ^+ 2 ^+ 2 / (l ^+ 2 * n%:R ^+ 2).
    by field; rewrite !gt_eqF.
  rewrite l2.
  have -> : 4%:R * L ^+ 2 ^+ 2 / (4%:R * L ^+ 2 / n%:R / a * n%:R ^+ 2)
      = L ^+ 2 * a / n%:R.
    by field; rewrite !gt_eqF.
  have -> : L ^+ 2 * a / n%:R = L ^+ 2 * B ^+ 2 * (t ^+ 2 / 4%:R + t ^+ 2 ^+ 2).
    by rewrite t2 /a; field; rewrite gt_eqF.
  have -> : (L * B * (t / 2%:R + t ^+ 2)) ^+ 2
      = L ^+ 2 * B ^+ 2 * (t ^+ 2 / 4%:R + t ^+ 2 ^+ 2)
        + L ^+ 2 * B ^+ 2 * (t ^+ 2 * t).
    by field.
  by rewrite ler_addl !mulr_ge0 ?sqr_ge0.
apply: le_trans (ler_add bias sampling) _.
have -> : 8%:R / n%:R = 4%:R * t ^+ 2 by rewrite t2; field; rewrite gt_eqF.
rewrite -subr_ge0.
have -> : 2%:R * L * B * (4%:R * t ^+ 2 + t) - (L * B * t + L * B * (t / 2%:R + t ^+ 2))
    = L * B * (7%:R * t ^+ 2 + t / 2%:R) by field.
by apply: mulr_ge0; rewrite ?mulr_ge0 ?addr_ge0 ?divr_ge0 ?mulr_ge0 ?sqr_ge0 ?ler0n.
Qed.

Variables (f : E -> Z -> R) (w_hat : sample Z n -> E).
Hypothesis f_convex : forall z, convex_on W (f^~ z).
Hypothesis f_lipschitz : forall z, lipschitz_on W L (f^~ z).
Hypothesis f_ok : forall w, W w -> integrable1 P (f w).
Hypothesis w_hat_ok : measurable P f w_hat.

(* Equation (28), in which the regulariser stands inside the minimum *)
Definition minimises lambda := forall S, minimiser_on W
  (fun w => lambda / 2%:R * norm2 w + empirical f w S) (w_hat S).

(* The bias of the regulariser, and the bound of (26) with 2 in place of 4 and
   without the Lipschitz constant of the regulariser, for every lambda *)
Theorem risk_of_regularised_minimiser lambda w :
  0 < lambda -> minimises lambda -> W w ->
  expect P (fun S => mean P (f (w_hat S))) - mean P (f w)
    <= lambda / 2%:R * B ^+ 2 + 2%:R * L ^+ 2 / (lambda * n%:R).
Proof.
move=> l_gt0 least w_W; rewrite ler_subl_addl.
have le_w := @risk_of_minimiser R E Z P n W lambda L n_gt0 l_gt0 L_ge0 W_convex
  (fun w => lambda / 2%:R * norm2 w) f _ f_lipschitz w_hat _ _ f_ok w_hat_ok w w_W.
apply: le_trans (le_w _ _ _) _.
- move=> z; exact: regularised_strongly_convex.
- move=> S; have [in_W le_S] := least S; split=> // u u_W.
  by rewrite !empirical_split ?le_S.
- by move=> u _; rewrite mulr_ge0 ?norm2_ge0 // divr_ge0 ?ler0n // ltW.
rewrite -addrA ler_add2l ler_add2r ler_wpmul2l ?divr_ge0 ?ler0n ?(ltW l_gt0) //.
by rewrite -sqr_norm ler_sqr ?nnegrE ?norm_ge0 ?W_bounded.
Qed.

(* It is at most 2 L B / sqrt(n) for the best lambda. *)
Theorem regularised_risk_for_the_best_lambda w :
  0 < L -> 0 < B -> minimises (2%:R * L / (B * Num.sqrt n%:R)) -> W w ->
  expect P (fun S => mean P (f (w_hat S))) - mean P (f w)
    <= 2%:R * L * B / Num.sqrt n%:R.
Proof.
move=> L_gt0 B_gt0; set r := Num.sqrt n%:R => least w_W.
have r_gt0 : 0 < r by rewrite sqrtr_gt0 ltr0n.
have n_r : n%:R = r ^+ 2 by rewrite sqr_sqrtr ?ler0n.
apply: le_trans (risk_of_regularised_minimiser _ least w_W) _.
  by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
rewrite n_r le_eqVlt; apply/orP; left; apply/eqP; field.
by rewrite !gt_eqF.
Qed.

Hypothesis least : minimises lambda_11.

(* Theorem 11 of `slam`, and Theorem 18 of `lists`. It holds for every w of W, and
   so for the one that has the least risk. *)
Theorem slam_theorem_11 w : W w ->
  expect P (fun S => mean P (f (w_hat S))) - mean P (f w)
    <= 2%:R * L * B * (8%:R / n%:R + Num.sqrt (2%:R / n%:R)).
Proof.
move=> w_W; have w_hat_W S : W (w_hat S) by case: (least S).
rewrite ler_subl_addl; case: (ltP 0 (L * B)) => [LB_gt0|LB_le0]; last first.
  (* All losses are constant. *)
  have LB0 : L * B = 0 by apply/eqP; rewrite eq_le LB_le0 mulr_ge0.
  rewrite -[2%:R * L * B]mulrA LB0 mulr0 mul0r addr0.
  have same u z : W u -> f u z <= f w z.
    move=> u_W; rewrite -subr_le0; apply: le_trans (ler_norm _) _.
    apply: le_trans (f_lipschitz z u_W w_W) _.
    apply: (@le_trans _ _ (L * (B + B))); last by rewrite mulrDr LB0 addr0.
    rewrite ler_wpmul2l //; apply: le_trans (normB _ _) _.
    by rewrite ler_add ?W_bounded.
  have [risk_ok _] := expected_risk w_hat_ok (fun S => f_ok (w_hat_W S)).
  apply: expect_le_const => [//|S].
  by apply: expect_le => [||S1]; rewrite ?same //; apply: f_ok.
have B_gt0 : 0 < B.
  by rewrite lt_def B_ge0 andbT; apply: contraTneq LB_gt0 => ->; rewrite mulr0 ltxx.
have L_gt0 : 0 < L.
  by rewrite lt_def L_ge0 andbT; apply: contraTneq LB_gt0 => ->; rewrite mul0r ltxx.
have [l_gt0 bound] := bound_29 B_gt0 L_gt0.
have := risk_of_regularised_minimiser l_gt0 least w_W; rewrite ler_subl_addl.
by move/le_trans; apply; rewrite ler_add2l.
Qed.

End Ball.

(* ------------------------------------------------------------------------- *)
(* Losses of scores *)

Section Scores.

Variables (R : rcfType) (E : space R) (Z : Type) (P : law R Z) (n : nat).

(* A query z has m z documents, and a loss of their scores that depends on the
   labels. *)
Variables (m : Z -> nat) (x : forall z, 'I_(m z) -> E).
Variable phi : forall z, 'cV[R]_(m z) -> R.

(* The scores X w, and the loss as a function of w *)
Definition scores_of z (w : E) : 'cV[R]_(m z) := \col_j dot (x j) w.
Definition loss_of (w : E) z : R := phi (scores_of z w).

(* phi is convex in the scores. *)
Definition convex_in_scores := forall z (s s' : 'cV[R]_(m z)) t, 0 <= t <= 1 ->
  phi (t *: s + (1 - t) *: s') <= t * phi s + (1 - t) * phi s'.

(* phi has the Lipschitz constant G with respect to the largest difference of two
   scores. *)
Definition lipschitz_in_scores (G : R) := forall z (s s' : 'cV[R]_(m z)) d,
  0 <= d -> (forall j, `|s j 0 - s' j 0| <= d) ->
  `|phi s - phi s'| <= G * d.

Variable B : R.
Hypotheses (n_gt0 : (0 < n)%N) (B_ge0 : 0 <= B).
Hypothesis phi_convex : convex_in_scores.

Lemma loss_of_convex z : convex_on (ball B) (loss_of^~ z).
Proof.
move=> w w' t _ _ t01; rewrite /loss_of.
have -> : scores_of z (t *: w + (1 - t) *: w')
    = t *: scores_of z w + (1 - t) *: scores_of z w'.
  by apply/matrixP => j k; rewrite !mxE dotDr !dotZr.
exact: phi_convex.
Qed.

Hypothesis loss_ok : forall w, ball B w -> integrable1 P (loss_of w).

(* w_hat S minimises the objective (22) in the ball of radius B. *)
Definition regularised_minimiser lambda (w_hat : sample Z n -> E) :=
  measurable P loss_of w_hat
  /\ forall S, minimiser_on (ball B)
       (fun w => lambda / 2%:R * norm2 w + empirical loss_of w S) (w_hat S).

(* Theorem 8 of `slam`, with a lambda of the order of 1 / sqrt(n) *)
Theorem slam_theorem_8 (L : R) (w_hat : sample Z n -> E) :
  let lambda := lambda_11 n B L in
  0 <= L -> (forall z, lipschitz_on (ball B) L (loss_of^~ z)) ->
  regularised_minimiser lambda w_hat ->
  lambda <= 2%:R * Num.sqrt 2%:R * L / B / Num.sqrt n%:R
  /\ forall w, norm w <= B ->
       expect P (fun S => mean P (loss_of (w_hat S)))
         <= mean P (loss_of w)
            + 2%:R * L * B * (8%:R / n%:R + Num.sqrt (2%:R / n%:R)).
Proof.
move=> lambda L_ge0 loss_lipschitz [w_hat_ok least]; split.
  exact: lambda_11_order.
move=> w w_B; rewrite -ler_subl_addl.
exact: (slam_theorem_11 n_gt0 B_ge0 L_ge0 (@ball_convex _ _ B) _ loss_of_convex
  loss_lipschitz loss_ok w_hat_ok least).
Qed.

(* Theorem 6 of `lists`: all documents have at most the norm R_X. *)
Theorem lists_theorem_6 (G R_X : R) (w_hat : sample Z n -> E) :
  let lambda := lambda_11 n B (G * R_X) in
  0 <= G -> 0 <= R_X -> lipschitz_in_scores G ->
  (forall z j, norm (@x z j) <= R_X) -> regularised_minimiser lambda w_hat ->
  lambda <= 2%:R * Num.sqrt 2%:R * (G * R_X) / B / Num.sqrt n%:R
  /\ forall w, norm w <= B ->
       expect P (fun S => mean P (loss_of (w_hat S)))
         <= mean P (loss_of w)
            + 2%:R * G * R_X * B * (8%:R / n%:R + Num.sqrt (2%:R / n%:R)).
Proof.
move=> lambda G_ge0 R_X_ge0 phi_lipschitz norms w_hat_ok.
rewrite -[2%:R * G * R_X]mulrA.
apply: slam_theorem_8 => [|z w w' _ _|//]; first exact: mulr_ge0.
rewrite -mulrA; apply: phi_lipschitz => [|j].
  by rewrite mulr_ge0 ?norm_ge0.
rewrite !mxE -dotBr; apply: le_trans (dot_le_norm _ _) _.
by rewrite ler_wpmul2r ?norm_ge0.
Qed.

End Scores.
