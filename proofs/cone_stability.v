(* Theorem 2 of `cone`: how much the loss of a difference can change if the basis
   of the cone changes.

   Contents
     The loss              coefficients, the loss of a difference, the norm of a
                           change of the basis
     Theorem 2             as printed, and with a smaller bound that has neither
                           sqrt(K) nor the second term
     A false neighbour     the factor 2 of the first term cannot be smaller
*)

From formal Require Import library perceptron_bound.

(* ------------------------------------------------------------------------- *)
(* The loss *)

Section Loss.

Variables (R : realFieldType) (E : space R) (K : nat).
Variables (lambda_l lambda_u : R).
Implicit Types (U V : 'I_K -> E) (w : 'I_K -> R) (z : E).

(* U w, the combination of the K vectors of a basis *)
Definition combine U w : E := \sum_k w k *: U k.

(* The constraint set C of the proof in section 3.4, from (8) *)
Definition admissible w :=
  (forall k, 0 <= w k) /\ lambda_l <= \sum_k w k <= lambda_u.

(* l is the loss of the difference z, the infimum of ||z - U w||^2 over all
   admissible w, which is a minimum for real numbers. *)
Definition is_loss U z (l : R) :=
  (forall w, admissible w -> l <= norm2 (z - combine U w))
  /\ (forall e, 0 < e ->
        exists2 w, admissible w & norm2 (z - combine U w) < l + e).

Lemma attained_is_loss U z w : admissible w ->
  (forall w', admissible w' ->
     norm2 (z - combine U w) <= norm2 (z - combine U w')) ->
  is_loss U z (norm2 (z - combine U w)).
Proof. by move=> w_ok least; split=> // e e_gt0; exists w; rewrite ?ltr_addl. Qed.

(* The spectral norm of U - V is at most s. *)
Definition change_at_most U V (s : R) :=
  forall w, norm2 (combine U w - combine V w) <= s ^+ 2 * \sum_k w k ^+ 2.

End Loss.

(* ------------------------------------------------------------------------- *)
(* Theorem 2 *)

Section Theorem2.

Variables (R : realFieldType) (E : space R).
Implicit Types (x y : E) (p q : R).

Lemma dot_le x y p q : 0 <= p -> 0 <= q ->
  norm2 x <= p ^+ 2 -> norm2 y <= q ^+ 2 -> dot x y <= p * q.
Proof.
move=> p_ge0 q_ge0 x_le y_le; case: (leP (dot x y) 0) => [le0|xy_gt0].
  by apply: le_trans le0 _; rewrite mulr_ge0.
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?(ltW xy_gt0) //.
apply: le_trans (CauchySchwarz x y) _.
by rewrite exprMn ler_pmul ?norm2_ge0.
Qed.

Lemma norm2D_le x y p q : 0 <= p -> 0 <= q ->
  norm2 x <= p ^+ 2 -> norm2 y <= q ^+ 2 -> norm2 (x + y) <= (p + q) ^+ 2.
Proof.
move=> p_ge0 q_ge0 x_le y_le; rewrite norm2D sqrrD.
apply: ler_add => //; apply: ler_add => //.
by rewrite ler_muln2r dot_le.
Qed.

Lemma norm2_sub x y : norm2 x - norm2 y = dot (x - y) (x + y).
Proof. by rewrite dotBl !dotDr (dotC y x) opprD addrA addrK. Qed.

Variables (K : nat) (lambda_l lambda_u c rho s : R).
Hypotheses (c_ge0 : 0 <= c) (rho_ge0 : 0 <= rho) (s_ge0 : 0 <= s).
Implicit Types (U V : 'I_K -> E) (w : 'I_K -> R) (z : E).

Lemma combine_le U w : (forall k, norm2 (U k) <= c ^+ 2) ->
  admissible lambda_l lambda_u w ->
  norm2 (combine U w) <= (c * lambda_u) ^+ 2.
Proof.
move=> U_le [w_ge0 /andP[_ sum_le]].
have sum_ge0 : 0 <= \sum_k w k by apply: sumr_ge0.
apply: (@le_trans _ _ ((c * \sum_k w k) ^+ 2)); last first.
  have u_ge0 := le_trans sum_ge0 sum_le.
  by rewrite ler_sqr ?nnegrE ?mulr_ge0 // ler_wpmul2l.
suff [] : 0 <= c * (\sum_k w k)
    /\ norm2 (combine U w) <= (c * \sum_k w k) ^+ 2 by [].
rewrite mulr_sumr /combine.
apply: (big_rec2 (fun x a => 0 <= a /\ norm2 x <= a ^+ 2)).
  by split=> //; rewrite /norm2 dot0l expr0n.
move=> k a x _ [a_ge0 x_le]; have cw_ge0 : 0 <= c * w k by rewrite mulr_ge0.
split; first by rewrite addr_ge0.
apply: norm2D_le => //.
by rewrite norm2Z exprMn [c ^+ 2 * _]mulrC ler_wpmul2l ?sqr_ge0 ?U_le.
Qed.

Lemma change_le U V w : change_at_most U V s ->
  admissible lambda_l lambda_u w ->
  norm2 (combine U w - combine V w) <= (s * lambda_u) ^+ 2.
Proof.
move=> change [w_ge0 /andP[_ sum_le]]; apply: le_trans (change w) _.
have sum_ge0 : 0 <= \sum_k w k by apply: sumr_ge0.
rewrite exprMn ler_wpmul2l ?sqr_ge0 //.
apply: (@le_trans _ _ ((\sum_k w k) ^+ 2)); last first.
  by rewrite ler_sqr ?nnegrE // (le_trans sum_ge0).
rewrite expr2 mulr_suml; apply: ler_sum => k _.
rewrite expr2 ler_wpmul2l // (bigD1 k) //= ler_addl.
by apply: sumr_ge0.
Qed.

(* The loss with U is at most that with V and the bound. *)
Lemma loss_increase U V z l l' :
  (forall k, norm2 (U k) <= c ^+ 2) -> (forall k, norm2 (V k) <= c ^+ 2) ->
  norm2 z <= rho ^+ 2 -> change_at_most U V s ->
  is_loss lambda_l lambda_u U z l -> is_loss lambda_l lambda_u V z l' ->
  l - l' <= 2%:R * s * lambda_u * (rho + c * lambda_u).
Proof.
move=> U_le V_le z_le change [l_le _] [_ l'_near].
rewrite ler_subl_addr addrC; apply/ler_addgt0Pr => e e_gt0.
have [w w_ok near] := l'_near e e_gt0.
have lambda_ge0 : 0 <= lambda_u.
  by case: w_ok => w_ge0 /andP[_]; apply: le_trans; apply: sumr_ge0.
apply: le_trans (l_le w w_ok) _; rewrite addrAC -ler_subl_addl.
pose a := z - combine U w; pose b := z - combine V w.
apply: (@le_trans _ _ (norm2 a - norm2 b)).
  by rewrite ler_add2l ler_opp2 ltW.
have r_ge0 : 0 <= rho + c * lambda_u by rewrite addr_ge0 ?mulr_ge0.
have part W : (forall k, norm2 (W k) <= c ^+ 2) ->
    norm2 (z - combine W w) <= (rho + c * lambda_u) ^+ 2.
  move=> W_le; apply: norm2D_le; rewrite ?mulr_ge0 // norm2N.
  exact: combine_le.
have -> : norm2 a - norm2 b = dot (combine V w - combine U w) (a + b).
  have -> : combine V w - combine U w = a - b.
    by rewrite /a /b opprB [RHS]addrC addrA subrK.
  exact: norm2_sub.
have -> : 2%:R * s * lambda_u * (rho + c * lambda_u)
    = (s * lambda_u) * ((rho + c * lambda_u) + (rho + c * lambda_u)) by ring.
apply: dot_le; rewrite ?mulr_ge0 ?addr_ge0 ?mulr_ge0 //.
  by rewrite -norm2N opprB change_le.
by apply: norm2D_le; rewrite ?addr_ge0 ?mulr_ge0 //; apply: part.
Qed.

(* The stability bound of Theorem 2 without the factor sqrt(K), and without the
   term s_max^2 lambda_u^2 *)
Theorem cone_theorem_2_without_K U V z l l' :
  (forall k, norm2 (U k) <= c ^+ 2) -> (forall k, norm2 (V k) <= c ^+ 2) ->
  norm2 z <= rho ^+ 2 -> change_at_most U V s ->
  is_loss lambda_l lambda_u U z l -> is_loss lambda_l lambda_u V z l' ->
  `|l - l'| <= 2%:R * s * lambda_u * (rho + c * lambda_u).
Proof.
move=> U_le V_le z_le change U_loss V_loss; rewrite ler_norml; apply/andP; split.
  rewrite ler_oppl opprB; apply: (@loss_increase V U z) => // w.
  by rewrite -norm2N opprB.
exact: (@loss_increase U V z).
Qed.

End Theorem2.

(* Theorem 2, with sqrt(K): U is the basis of all P queries and V i the one that
   is learned without query i. No loss of a difference z with ||z|| <= rho
   changes by more than the bound (16), which is the stability beta of (12). *)
Theorem cone_theorem_2 (R : rcfType) (E : space R) (K P : nat)
    (lambda_l lambda_u c rho s_max : R) (U : 'I_K -> E) (V : 'I_P -> 'I_K -> E) :
  0 <= c -> 0 <= rho -> 0 <= s_max -> (0 < K)%N ->
  (forall k, norm2 (U k) <= c ^+ 2) ->
  (forall i k, norm2 (V i k) <= c ^+ 2) ->
  (forall i, change_at_most U (V i) s_max) ->
  forall i z l l', norm2 z <= rho ^+ 2 ->
    is_loss lambda_l lambda_u U z l -> is_loss lambda_l lambda_u (V i) z l' ->
    `|l - l'| <= 2%:R * s_max * lambda_u
                   * (rho + Num.sqrt K%:R * c * lambda_u)
                 + s_max ^+ 2 * lambda_u ^+ 2.
Proof.
move=> c_ge0 rho_ge0 s_ge0 K_gt0 U_le V_le change i z l l' z_le U_loss V_loss.
have lambda_ge0 : 0 <= lambda_u.
  have [_ /(_ 1 ltr01)[w [w_ge0 /andP[_ sum_le]] _]] := U_loss.
  by apply: le_trans sum_le; apply: sumr_ge0.
apply: le_trans (cone_theorem_2_without_K c_ge0 rho_ge0 s_ge0 U_le (V_le i)
  z_le (change i) U_loss V_loss) _.
apply: ler_paddr; first by rewrite mulr_ge0 ?sqr_ge0.
rewrite ler_wpmul2l ?mulr_ge0 ?ler0n // ler_add2l -mulrA ler_pemull ?mulr_ge0 //.
by rewrite -[1 in X in X <= _]sqrtr1 ler_wsqrtr // ler1n.
Qed.

(* ------------------------------------------------------------------------- *)
(* A false neighbour *)

(* One vector in one feature, and coefficients with the sum 1 *)
Section Line.

Variable R : realFieldType.

Definition point (a : R) : Rd R 1 := const_mx a.

Lemma norm2_point a : norm2 (point a) = a ^+ 2.
Proof. by rewrite /norm2 /dot /= /row_dot big_ord1 !mxE expr2. Qed.

Lemma pointB a b : point a - point b = point (a - b).
Proof. by apply/rowP => c; rewrite !mxE. Qed.

Lemma combine_point a w : admissible 1 1 w ->
  combine (fun _ : 'I_1 => point a) w = point a.
Proof.
move=> [_ /andP[ge1 le1]]; rewrite /combine big_ord1.
suff -> : w ord0 = 1 by rewrite scale1r.
by apply/eqP; rewrite eq_le; move: ge1 le1; rewrite !big_ord1 => -> ->.
Qed.

Lemma loss_of_point a z :
  is_loss 1 1 (fun _ : 'I_1 => point a) (point z) ((z - a) ^+ 2).
Proof.
have one_ok : admissible 1 1 (fun _ : 'I_1 => 1 : R).
  by split=> [k|]; rewrite ?ler01 // big_ord1 lexx.
split=> [w w_ok|e e_gt0].
  by rewrite combine_point // pointB norm2_point.
exists (fun=> 1) => //.
by rewrite combine_point // pointB norm2_point ltr_addl.
Qed.

Lemma change_of_points a b :
  change_at_most (fun _ : 'I_1 => point a) (fun=> point b) (a - b).
Proof.
move=> w; rewrite /combine !big_ord1 -scalerBr norm2Z pointB norm2_point.
by rewrite mulrC.
Qed.

(* No bound with a factor below 2 before s_max holds, whatever the factor of
   s_max^2: the change of the loss is 2 s - s^2 here, with rho + c = 1. *)
Theorem cone_factor_is_2 (factor factor2 : R) : 0 <= factor -> 0 <= factor2 ->
  (forall (c rho s : R) (U V : 'I_1 -> Rd R 1) z l l',
     0 <= c -> 0 <= rho -> 0 <= s ->
     (forall k, norm2 (U k) <= c ^+ 2) -> (forall k, norm2 (V k) <= c ^+ 2) ->
     norm2 z <= rho ^+ 2 -> change_at_most U V s ->
     is_loss 1 1 U z l -> is_loss 1 1 V z l' ->
     `|l - l'| <= factor * s * (rho + c) + factor2 * s ^+ 2) ->
  2%:R <= factor.
Proof.
move=> factor_ge0 factor2_ge0 bound; rewrite leNgt; apply/negP => factor_lt.
pose h : R := 2%:R^-1; have h_ge0 : 0 <= h by rewrite invr_ge0 ler0n.
have hh : h + h = 1 by rewrite -mulr2n -mulr_natr mulVf ?pnatr_eq0.
pose q := 2%:R * (factor2 + 1); have q_gt0 : 0 < q.
  by rewrite mulr_gt0 ?ltr0n // ltr_spaddr ?ltr01.
pose s := (2%:R - factor) / q.
have s_gt0 : 0 < s by rewrite divr_gt0 ?subr_gt0.
have s_le1 : s <= 1.
  rewrite ler_pdivr_mulr // mul1r ler_subl_addr /q mulrDr mulr1 addrC addrA.
  by rewrite ler_addr addr_ge0 // mulr_ge0 ?ler0n.
have h_le : norm2 (point h) <= h ^+ 2 by rewrite norm2_point.
have z_le : norm2 (point (- h)) <= h ^+ 2 by rewrite norm2_point sqrrN.
have v_le : norm2 (point (h - s)) <= h ^+ 2.
  rewrite norm2_point -subr_ge0 (_ : _ - _ = s * (h + h - s)); last by ring.
  by rewrite hh mulr_ge0 ?(ltW s_gt0) ?subr_ge0.
have change : change_at_most (fun _ : 'I_1 => point h) (fun=> point (h - s)) s.
  by have := change_of_points h (h - s); rewrite subKr.
have := bound h h s (fun=> point h) (fun=> point (h - s)) (point (- h)) _ _
  h_ge0 h_ge0 (ltW s_gt0) (fun=> h_le) (fun=> v_le) z_le change
  (loss_of_point h (- h)) (loss_of_point (h - s) (- h)).
move/(le_trans (ler_norm _)); apply/negP; rewrite -ltNge.
have -> : (- h - h) ^+ 2 - (- h - (h - s)) ^+ 2 = s * ((h + h) *+ 2 - s) by ring.
have -> : factor * s * (h + h) + factor2 * s ^+ 2
    = s * (factor * (h + h) + factor2 * s) by ring.
rewrite ltr_pmul2l // hh mulr1 ltr_subr_addr -addrA -ltr_subr_addl.
have -> : factor2 * s + s = (2%:R - factor) / 2%:R.
  rewrite -[X in _ + X]mul1r -mulrDl /s /q mulrCA; congr (_ * _).
  by rewrite invfM mulrCA mulfV ?mulr1 // gt_eqF // ltr_spaddr ?ltr01.
by rewrite ltr_pdivr_mulr ?ltr0n // ltr_pmulr ?subr_gt0 // ltr1n.
Qed.

End Line.
