(* Statements next to the theorems of finite_laws.v and regularised_risk.v that are
   false. Their examples meet the hypotheses of the theorems.

     Independence          the mean of a function that depends on the query itself
     Equation (26)         the excess risk can be L^2 / (8 lambda n), so that no
                           bound of the order of 1 / n^2 is true
     Theorems 6, 8 and 11  no bound without the term sqrt(2 / n) is true
*)

From formal Require Import library perceptron_bound finite_laws regularised_risk.

(* The numbers as a space, with <x, y> = x y *)
Section Line.

Variable R : rcfType.

Definition line : space R := @Space R [lmodType R of R^o] (fun x y => x * y)
  (fun x y => mulrC x y) (fun x y z => mulrDl x y z)
  (fun a x y => esym (mulrA a x y)) (fun x => sqr_ge0 x).

Lemma norm2_line (w : line) : norm2 w = (w : R) ^+ 2.
Proof. by rewrite expr2. Qed.

Lemma norm_line (w : line) : norm w = `|w : R|.
Proof. by rewrite /norm norm2_line sqrtr_sqr. Qed.

(* Sums and products of the space are those of numbers. *)
Lemma line_between t (w w' : line) :
  t *: w + (1 - t) *: w' = (t * (w : R) + (1 - t) * (w' : R) : R).
Proof. by []. Qed.

Lemma lineB (w w' : line) : w - w' = ((w : R) - (w' : R) : R).
Proof. by []. Qed.

End Line.

(* ------------------------------------------------------------------------- *)
(* A fair coin *)

Section Coin.

Variable R : rcfType.

Let coin := coin R.

Lemma mean_coin g : mean (law_of coin) g = (g true + g false) / 2%:R.
Proof. by rewrite mean_law_of big_bool /=; field. Qed.

(* The query itself is not independent of the sample: it is equal to the first
   query of a sample of one, but has the mean 1/2 of being so. *)
Theorem query_depends_on_itself :
  let P := law_of coin in
  let g (S : sample bool 1) z : R := (z == S ord0)%:R in
  expect P (fun S => g S (S ord0)) = 1
  /\ expect P (fun S => mean P (g S)) = 2%:R^-1.
Proof.
split.
  rewrite -[RHS](finite_expect_const coin 1); apply: finite_expect_ext => S.
  by rewrite eqxx.
rewrite -[RHS](finite_expect_const coin 1); apply: finite_expect_ext => S.
by rewrite mean_coin; case: (S ord0); rewrite /= ?addr0 ?add0r mul1r.
Qed.

(* ------------------------------------------------------------------------- *)
(* Equation (26) *)

Definition sign (z : bool) : R := if z then 1 else -1.

(* The loss w^2 / 2 - z w, for z = 1 or -1 *)
Definition coin_loss (w : line R) (z : bool) : R :=
  (w : R) ^+ 2 / 2%:R - sign z * (w : R).

Definition sign_sum n (S : sample bool n) : R := \sum_i sign (S i).

Lemma sign_sum_square n :
  finite_expect coin (fun S : sample bool n => sign_sum S ^+ 2) = n%:R.
Proof.
elim: n => [|n IH].
  rewrite -[RHS](finite_expect_const coin 0); apply: finite_expect_ext => S.
  by rewrite /sign_sum big_ord0 expr0n.
rewrite mulrSr -IH -[finite_expect _ _ in RHS]mul1r.
rewrite -[X in _ + X](finite_expect_const coin n) -finite_expect_lin.
rewrite finite_expect_first; apply: finite_expect_ext => S.
rewrite (finite_expect1 coin (fun z => sign_sum (extend z S) ^+ 2)) big_bool /=.
have split_sum z : sign_sum (extend z S) = sign z + sign_sum S.
  rewrite /sign_sum big_ord_recl extend0; congr (_ + _).
  by apply: eq_bigr => i _; rewrite extend_lift.
by rewrite !split_sum /=; field.
Qed.

Lemma sign_sum_le n (S : sample bool n) : `|sign_sum S| <= n%:R.
Proof.
apply: le_trans (ler_norm_sum _ _ _) _.
have -> : n%:R = \sum_(i < n) 1 :> R by rewrite sumr_const card_ord.
by apply: ler_sum => i _; rewrite /sign; case: (S i); rewrite ?normrN normr1.
Qed.

(* The minimiser is the mean sign. *)
Definition coin_minimiser n (S : sample bool n) : line R := sign_sum S / n%:R.

Theorem slam_equation_26_is_of_its_order n : (0 < n)%N ->
  let P := law_of coin in
  let W := ball (E := line R) 1 in
  [/\ convex_set W,
      forall z, strongly_convex_on W 1 (coin_loss^~ z),
      forall z, lipschitz_on W 2%:R (coin_loss^~ z),
      forall S : sample bool n,
        minimiser_on W (fun w => empirical coin_loss w S) (coin_minimiser S)
    & expect P (fun S : sample bool n => mean P (coin_loss (coin_minimiser S)))
        - mean P (coin_loss 0)
      = 2%:R ^+ 2 / (8%:R * 1 * n%:R)].
Proof.
move=> n_gt0 P W; have n0 : 0 < n%:R :> R by rewrite ltr0n.
split.
- exact: ball_convex.
- move=> z w w' t _ _ _; rewrite norm2_line line_between lineB /coin_loss.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
- move=> z w w'; rewrite /W /ball !norm_line lineB => w_le w'_le.
  have -> : coin_loss w z - coin_loss w' z
      = (((w : R) + w') / 2%:R - sign z) * ((w : R) - w').
    by rewrite /coin_loss; field.
  rewrite normrM ler_wpmul2r ?normr_ge0 //.
  apply: le_trans (ler_norm_sub _ _) _.
  have -> : `|sign z| = 1 by case: z; rewrite /sign ?normrN normr1.
  rewrite [X in _ <= X]mulr2n ler_add2r normrM normfV [`|2%:R|]ger0_norm ?ler0n //.
  rewrite ler_pdivr_mulr ?ltr0n // mul1r [X in _ <= X]mulr2n.
  by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add.
- move=> S; have emp w : empirical coin_loss w S
      = (w : R) ^+ 2 / 2%:R - (coin_minimiser S : R) * w.
    rewrite /empirical /coin_loss sumrB sumr_const card_ord -mulr_suml.
    rewrite -/(sign_sum S) /coin_minimiser -[X in X - _]mulr_natr.
    by field; rewrite gt_eqF.
  split=> [|w _].
    rewrite /W /ball norm_line normrM normfV [`|n%:R|]ger0_norm ?ler0n //.
    by rewrite ler_pdivr_mulr // mul1r sign_sum_le.
  rewrite !emp -subr_ge0.
  have ge0 : 0 <= 2%:R^-1 * ((w : R) - coin_minimiser S) ^+ 2.
    by rewrite mulr_ge0 ?sqr_ge0 ?invr_ge0 ?ler0n.
  by apply: le_trans ge0 _; rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
have mean_loss (w : line R) : mean P (coin_loss w) = (w : R) ^+ 2 / 2%:R.
  by rewrite mean_coin /coin_loss /=; field.
rewrite mean_loss expr0n /= mul0r subr0.
transitivity (finite_expect coin (fun S : sample bool n =>
    (2%:R * n%:R ^+ 2)^-1 * sign_sum S ^+ 2 + 0)).
  apply: (@finite_expect_ext _ _ coin n
    (fun S => mean P (coin_loss (coin_minimiser S)))) => S.
  by rewrite mean_loss addr0 /coin_minimiser; field; rewrite gt_eqF.
rewrite finite_expect_lin finite_expect_const sign_sum_square.
by field; rewrite gt_eqF.
Qed.

End Coin.

(* ------------------------------------------------------------------------- *)
(* Theorems 6, 8 and 11 *)

(* One query with one document, and the loss - s / 18 of its score: lambda is
   1/9, and the minimiser 1/2, whose excess risk is 1/36. *)
Section OneQuery.

Variable R : rcfType.

Lemma one_ge0 (z : unit) : 0 <= 1 :> R.
Proof. exact: ler01. Qed.

Lemma one_sum : \sum_(z : unit) 1 = 1 :> R.
Proof. by rewrite sumr_const card_unit. Qed.

Definition certain : finite_law R unit_finType := FiniteLaw one_ge0 one_sum.

Definition one_document (z : unit) (j : 'I_1) : line R := 1 : R.
Definition small_slope (z : unit) (s : 'cV[R]_1) : R := - s 0 0 / 18%:R.
Definition middle (S : sample unit 640) : line R := 2%:R^-1 : R.

Lemma lambda_640 : lambda_11 640 1 1 = 9%:R^-1 :> R.
Proof.
rewrite /lambda_11.
have -> : 4%:R * 1 ^+ 2 / 640%:R / (1 ^+ 2 / 2%:R + 4%:R * 1 ^+ 2 / 640%:R)
    = 9%:R^-1 ^+ 2 :> R by field.
by rewrite sqrtr_sqr ger0_norm // invr_ge0 ler0n.
Qed.

Theorem slam_theorem_8_needs_its_root :
  let P := law_of certain in
  let loss := loss_of one_document small_slope in
  [/\ convex_in_scores small_slope, lipschitz_in_scores small_slope 1,
      forall z j, norm (one_document z j) <= 1,
      regularised_minimiser P one_document small_slope 1 (lambda_11 640 1 (1 * 1))
        middle
    & mean P (loss (1 : R))
        + 2%:R * 1 * 1 * 1 * (8%:R / 640%:R)
      < expect P (fun S => mean P (loss (middle S)))].
Proof.
have loss_line w z : loss_of one_document small_slope w z = - (w : R) / 18%:R.
  by rewrite /loss_of /small_slope /scores_of mxE /dot /= mul1r.
split.
- move=> z s s' t _; rewrite /small_slope !mxE.
  suff between (a b : R) : - (t * a + (1 - t) * b) / 18%:R
      <= t * (- a / 18%:R) + (1 - t) * (- b / 18%:R) by exact: between.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
- move=> z s s' d d_ge0 /(_ 0) le_d.
  rewrite /small_slope -mulrBl -opprD normrM normrN.
  rewrite mul1r normfV [`|18%:R|]ger0_norm ?ler0n // ler_pdivr_mulr ?ltr0n //.
  by apply: le_trans le_d _; rewrite ler_pemulr // ler1n.
- by move=> z j; rewrite norm_line normr1.
- split=> // S; split.
    by rewrite /ball norm_line ger0_norm ?invr_ge0 ?ler0n // invf_le1 ?ltr0n // ler1n.
  move=> w _; rewrite mulr1 lambda_640 !norm2_line.
  have emp u : empirical (loss_of one_document small_slope) u S = - (u : R) / 18%:R.
    rewrite /empirical (eq_bigr (fun=> - (u : R) / 18%:R)) => [|i _].
      by rewrite sumr_const card_ord -mulr_natr mulfK // pnatr_eq0.
    exact: loss_line.
  rewrite !emp -subr_ge0.
  have ge0 : 0 <= 18%:R^-1 * ((w : R) - 2%:R^-1) ^+ 2.
    by rewrite mulr_ge0 ?sqr_ge0 ?invr_ge0 ?ler0n.
  apply: le_trans ge0 _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by rewrite /middle; field.
have mean_loss w : mean (law_of certain) (loss_of one_document small_slope w)
    = - (w : R) / 18%:R.
  rewrite mean_law_of (eq_bigr (fun=> - (w : R) / 18%:R)) => [|z _].
    by rewrite sumr_const card_unit.
  by rewrite loss_line mul1r.
rewrite mean_loss.
have mean_middle : expect (law_of certain) (fun S : sample unit 640 =>
    mean (law_of certain) (loss_of one_document small_slope (middle S)))
    = - 2%:R^-1 / 18%:R.
  rewrite -[RHS](finite_expect_const certain 640).
  apply: (@finite_expect_ext _ _ certain 640 (fun S =>
    mean (law_of certain) (loss_of one_document small_slope (middle S)))) => S.
  by rewrite mean_loss.
rewrite [X in _ < X]mean_middle -subr_gt0.
have -> : - 2%:R^-1 / 18%:R - (- 1 / 18%:R + 2%:R * 1 * 1 * 1 * (8%:R / 640%:R))
    = 360%:R^-1 :> R by field.
by rewrite invr_gt0 ltr0n.
Qed.

End OneQuery.
