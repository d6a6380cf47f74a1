(* Theorem 5.2 of `topk` is false for two documents with binary labels: there is a
   surrogate that is calibrated for NDCG, and a learner that sees the label of the
   document on top only and has regret of the order T^(2/3) against every sequence
   of labels.

   The surrogate is the squared loss against G/Z less its mean over the list, for
   which the difference of the two labels is enough. With a small probability the
   learner gives both documents the score 0 and shows one of them at random.

   Contents
     The surrogate         it has equation (8)
     The learner           gradient descent on unbiased estimates of the difference
     The regret            by the distance from a comparator
*)

From formal Require Import library perceptron_bound ranking_loss finite_laws.
From formal Require Import calibration top_label.

Section TwoDocuments.

Variables (R : realFieldType) (G : gain R) (D : discount R).
Hypotheses (G1_gt0 : 0 < G 1%N) (D0_gt0 : 0 < D 0%N).
Notation labels := (labels 2 1).

(* ------------------------------------------------------------------------- *)
(* The surrogate *)

(* G/Z less its mean over the list *)
Definition centred (y : labels) (i : 'I_2) : R :=
  share G D y i - (share G D y ord0 + share G D y ord_max) / 2%:R.
Definition centred_loss := squared_loss centred.

Lemma centred_loss_has_equation_8 : equation_8 G D centred_loss.
Proof.
move=> p; exists (fun a i => a i - (a ord0 + a ord_max) / 2%:R).
  by move=> a i j; rewrite ltr_add2r.
set s := fun i => _; have s_target : s =1 (fun i => average p (centred^~ i)).
  move=> i; rewrite /s /mean_share /average -big_split mulr_suml -sumrB.
  by apply: eq_bigr => y _; rewrite /centred /=; field.
have risk_s : conditional_risk centred_loss p s
    = conditional_risk centred_loss p (fun i => average p (centred^~ i)).
  apply: eq_bigr => y _; congr (_ * _); apply: eq_bigr => i _.
  by rewrite s_target.
have [least only] := squared_loss_minimiser centred p.
split=> s'; rewrite risk_s; first exact: least.
by move=> /only s'_target i; rewrite s'_target s_target.
Qed.

Let kappa : R := (2%:R * D 0%N)^-1.
Definition label_difference (y : labels) : R := (y ord0)%:R - (y ord_max)%:R.

Lemma centred_lossE s y : centred_loss s y
  = (s ord0 - kappa * label_difference y) ^+ 2
    + (s ord_max + kappa * label_difference y) ^+ 2.
Proof.
have diff := share_difference D G1_gt0 y ord0 ord_max.
have c0 : centred y ord0 = kappa * label_difference y.
  transitivity ((share G D y ord0 - share G D y ord_max) / 2%:R).
    by rewrite /centred; field.
  by rewrite diff /kappa /label_difference; field; rewrite gt_eqF.
have c1 : centred y ord_max = - (kappa * label_difference y).
  by rewrite -c0 /centred; field.
rewrite /centred_loss /squared_loss big_ord_recl big_ord1 c0.
have -> : lift ord0 ord0 = ord_max :> 'I_2 by apply/val_inj.
by rewrite c1 opprK.
Qed.

Lemma label_le1 (y : labels) i : (y i)%:R ^+ 2 <= 1 :> R.
Proof. by rewrite -natrX -[1]/(1%:R) ler_nat; case: (y i) => [[|[|]]]. Qed.

(* ------------------------------------------------------------------------- *)
(* The learner *)

Variable N : nat.
Hypothesis N_gt0 : (0 < N)%N.
Let T := (N ^ 3)%N.
Let gamma : R := N%:R^-1.
Let eta : R := (N%:R ^+ 2)^-1.

Let N0 : 0 < N%:R :> R.
Proof. by rewrite ltr0n. Qed.

Let gamma_gt0 : 0 < gamma.
Proof. by rewrite invr_gt0. Qed.

Let gamma_le1 : gamma <= 1.
Proof. by rewrite invf_le1 // ler1n. Qed.

(* In each round it draws whether to explore, and then whether the first document
   is on top. *)
Definition draw_weight (e : option bool) : R :=
  if e is Some _ then gamma / 2%:R else 1 - gamma.

Lemma draw_weight_ge0 e : 0 <= draw_weight e.
Proof.
case: e => [_|] /=; last by rewrite subr_ge0.
by rewrite divr_ge0 ?ler0n // ltW.
Qed.

Lemma draw_weight_sum : \sum_e draw_weight e = 1.
Proof. by rewrite sum_option_bool /=; field. Qed.

Definition draws : finite_law R [finType of option bool] :=
  FiniteLaw draw_weight_ge0 draw_weight_sum.

(* The estimate of the difference from a label that is seen *)
Definition estimate (e : option bool) (l : nat) : R :=
  match e with
  | None => 0
  | Some true => 2%:R / gamma * l%:R
  | Some false => - (2%:R / gamma * l%:R)
  end.

Section Play.

Variable e : nat -> option bool.

(* Half the difference of the scores, after the labels h *)
Fixpoint lead (h : seq nat) : R :=
  if h is l :: h' then
    lead h' - eta * (lead h' - kappa * estimate (e (size h')) l)
  else 0.

Definition scores_of_learner (h : seq nat) (i : 'I_2) : R :=
  if e (size h) is None then (if i == ord0 then lead h else - lead h) else 0.
Definition shown_of_learner (h : seq nat) : 'I_2 :=
  match e (size h) with
  | None => if 0 <= lead h then ord0 else ord_max
  | Some true => ord0
  | Some false => ord_max
  end.

Lemma learner_shows_top h j :
  scores_of_learner h j <= scores_of_learner h (shown_of_learner h).
Proof.
rewrite /scores_of_learner /shown_of_learner; case: (e (size h)) => [//|].
case: (leP 0 (lead h)) => [ge0|lt0] /=; case: (two_cases j) => -> //=.
  by rewrite (@le_trans _ _ 0) // oppr_le0.
by rewrite (@le_trans _ _ 0) ?oppr_ge0 ?ltW.
Qed.

Definition explorer : learner R 2 := Learner learner_shows_top.

End Play.

Variable y : nat -> labels.

(* The same estimate, and half the difference of the scores in round t *)
Definition estimate_at t (e : option bool) : R :=
  match e with
  | None => 0
  | Some true => 2%:R / gamma * (y t ord0)%:R
  | Some false => - (2%:R / gamma * (y t ord_max)%:R)
  end.
Fixpoint lead_at (e : nat -> option bool) t : R :=
  if t is t'.+1 then
    lead_at e t' - eta * (lead_at e t' - kappa * estimate_at t' (e t'))
  else 0.

Lemma size_seen (A : learner R 2) t : size (seen A y t) = t.
Proof. by elim: t => //= t ->. Qed.

Lemma lead_seen e t : lead e (seen (explorer e) y t) = lead_at e t.
Proof.
elim: t => //= t ->; rewrite size_seen; congr (_ - _ * (_ - _ * _)).
by rewrite /shown_of_learner size_seen; case: (e t) => [[]|].
Qed.

Definition round_loss t (w : R) (e : option bool) : R :=
  if e is None then 2%:R * (w - kappa * label_difference (y t)) ^+ 2
  else 2%:R * (kappa * label_difference (y t)) ^+ 2.

Lemma loss_of_explorer e t :
  centred_loss (scores_after (explorer e) (seen (explorer e) y t)) (y t)
    = round_loss t (lead_at e t) (e t).
Proof.
rewrite centred_lossE /= /scores_of_learner size_seen lead_seen /round_loss.
by case: (e t) => [_|] /=; ring.
Qed.

(* ------------------------------------------------------------------------- *)
(* The regret *)

Definition draw (S : sample (option bool) T) t : option bool :=
  if insub t is Some i then S i else None.

Lemma drawE S (i : 'I_T) : draw S i = S i.
Proof. by rewrite /draw valK. Qed.

Lemma lead_of_others (S S' : sample (option bool) T) (i : 'I_T) :
  (forall j, j != i -> S j = S' j) -> lead_at (draw S) i = lead_at (draw S') i.
Proof.
move=> others; suff early t : (t <= i)%N -> lead_at (draw S) t = lead_at (draw S') t.
  exact: early.
elim: t => // t IH t_lt /=; rewrite IH 1?ltnW //.
suff -> : draw S t = draw S' t by [].
rewrite /draw; case: insubP => // j _ j_t; apply: others.
by apply: contraTneq t_lt => <-; rewrite -j_t ltnn.
Qed.

Notation Ex := (finite_expect draws).

Lemma expect_draw t (f : R -> option bool -> R) : (t < T)%N ->
  Ex (fun S => f (lead_at (draw S) t) (draw S t))
    = Ex (fun S => (1 - gamma) * f (lead_at (draw S) t) None
        + gamma / 2%:R * (f (lead_at (draw S) t) (Some true)
                          + f (lead_at (draw S) t) (Some false))).
Proof.
move=> t_lt; pose i := Ordinal t_lt.
have [|//|//|_ fresh] := @queries_are_independent R _ (law_of draws) T i
  (fun S => f (lead_at (draw S) i)).
  by move=> S S' others z; rewrite (lead_of_others others).
transitivity (Ex (fun S => f (lead_at (draw S) i) (S i))).
  by apply: finite_expect_ext => S; rewrite -drawE.
rewrite -[LHS]/(expect (law_of draws) _) fresh; apply: finite_expect_ext => S.
by rewrite mean_law_of sum_option_bool /=; ring.
Qed.

(* c_t, the best half difference in round t, and the loss of another *)
Let c t := kappa * label_difference (y t).
Let f t w := (w - c t) ^+ 2.

(* Estimates are unbiased, and their mean square is at most 4 / gamma. *)
Lemma estimate_mean t :
  gamma / 2%:R * (estimate_at t (Some true) + estimate_at t (Some false))
    = label_difference (y t).
Proof.
by rewrite /= /label_difference; field; rewrite gt_eqF.
Qed.

Lemma estimate_square t :
  gamma / 2%:R * (estimate_at t (Some true) ^+ 2 + estimate_at t (Some false) ^+ 2)
    <= 4%:R / gamma.
Proof.
have -> : gamma / 2%:R
      * (estimate_at t (Some true) ^+ 2 + estimate_at t (Some false) ^+ 2)
    = 2%:R / gamma * ((y t ord0)%:R ^+ 2 + (y t ord_max)%:R ^+ 2).
  by rewrite /=; field; rewrite gt_eqF.
have -> : 4%:R / gamma = 2%:R / gamma * (1 + 1) by field; rewrite gt_eqF.
by rewrite ler_wpmul2l ?divr_ge0 ?ler0n ?(ltW gamma_gt0) // ler_add ?label_le1.
Qed.

Lemma c_square t : c t ^+ 2 <= kappa ^+ 2.
Proof.
rewrite /c exprMn ler_pimulr ?sqr_ge0 // /label_difference.
case: (y t ord0) (y t ord_max) => [[|[|]]] // ? [[|[|]]] // ?;
  by rewrite /= ?subrr ?subr0 ?sub0r ?sqrrN ?expr0n ?expr1n /= ?lexx ?ler01.
Qed.

Let K : R := kappa ^+ 2 * (4%:R / gamma).

Let K_ge0 : 0 <= K.
Proof. by rewrite mulr_ge0 ?sqr_ge0 // divr_ge0 ?ler0n // ltW. Qed.

Let eta_gt0 : 0 < eta.
Proof. by rewrite invr_gt0 exprn_gt0. Qed.

Let eta_le1 : eta <= 1.
Proof. by rewrite invf_le1 ?exprn_gt0 // -natrX ler1n expn_gt0 N_gt0. Qed.

(* The mean over the draws of one round, of the next half difference *)
Let next w x := w - eta * (w - kappa * x).

Lemma next_square w t :
  (1 - gamma) * next w 0 ^+ 2 + gamma / 2%:R * (next w (estimate_at t (Some true)) ^+ 2
      + next w (estimate_at t (Some false)) ^+ 2)
    <= (1 - eta) * w ^+ 2 + eta * K.
Proof.
have each x : next w x ^+ 2 <= (1 - eta) * w ^+ 2 + eta * (kappa ^+ 2 * x ^+ 2).
  rewrite -subr_ge0 /next.
  have -> : (1 - eta) * w ^+ 2 + eta * (kappa ^+ 2 * x ^+ 2)
      - (w - eta * (w - kappa * x)) ^+ 2
      = eta * (1 - eta) * (w - kappa * x) ^+ 2 by ring.
  by rewrite mulr_ge0 ?sqr_ge0 // mulr_ge0 ?subr_ge0 // ltW.
move: (estimate_at t (Some true)) (estimate_at t (Some false)) (estimate_square t).
move=> x x' square.
have gamma_ge0 : 0 <= 1 - gamma by rewrite subr_ge0.
have half_ge0 : 0 <= gamma / 2%:R by rewrite divr_ge0 ?ler0n // ltW.
have := ler_add (ler_wpmul2l gamma_ge0 (each 0))
  (ler_wpmul2l half_ge0 (ler_add (each x) (each x'))).
move/le_trans; apply.
have := ler_wpmul2l (ltW eta_gt0) (ler_wpmul2l (sqr_ge0 kappa) square).
rewrite -/K -(ler_add2l ((1 - eta) * w ^+ 2)); apply: le_trans.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.

Lemma next_distance w u t :
  (1 - gamma) * (next w 0 - u) ^+ 2
      + gamma / 2%:R * ((next w (estimate_at t (Some true)) - u) ^+ 2
      + (next w (estimate_at t (Some false)) - u) ^+ 2)
    <= (w - u) ^+ 2 - eta * (f t w - f t u) + eta ^+ 2 * (2%:R * w ^+ 2 + 2%:R * K).
Proof.
rewrite /f /c -(estimate_mean t).
move: (estimate_at t (Some true)) (estimate_at t (Some false)) (estimate_square t).
move=> x x' square.
have square_K := ler_wpmul2l (sqr_ge0 eta) (ler_wpmul2l (ler0n R 2)
  (ler_wpmul2l (sqr_ge0 kappa) square)).
rewrite -/K in square_K.
have gamma_ge0 : 0 <= 1 - gamma by rewrite subr_ge0.
have half_ge0 : 0 <= gamma / 2%:R by rewrite divr_ge0 ?ler0n // ltW.
have three : 0 <= eta * (w - u) ^+ 2 + eta ^+ 2 * ((1 - gamma) * w ^+ 2
    + gamma / 2%:R * ((w + kappa * x) ^+ 2 + (w + kappa * x') ^+ 2)).
  apply: addr_ge0; first by rewrite mulr_ge0 ?sqr_ge0 // ltW.
  apply: mulr_ge0; first exact: sqr_ge0.
  apply: addr_ge0; first by rewrite mulr_ge0 ?sqr_ge0.
  by rewrite mulr_ge0 // addr_ge0 ?sqr_ge0.
rewrite -subr_ge0 in square_K; rewrite -subr_ge0.
apply: le_trans (addr_ge0 three square_K) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /next; field.
Qed.

Lemma second_moment t : (t <= T)%N -> Ex (fun S => lead_at (draw S) t ^+ 2) <= K.
Proof.
elim: t => [_|t IH t_lt].
  rewrite (finite_expect_ext draws (g := fun=> 0)) => [|S]; last by rewrite /= expr0n.
  by rewrite finite_expect_const.
rewrite [X in X <= _](expect_draw (fun w e => next w (estimate_at t e) ^+ 2) t_lt).
apply: le_trans (finite_expect_le draws
  (fun S => next_square (lead_at (draw S) t) t)) _.
rewrite finite_expect_lin finite_expect_const.
apply: (@le_trans _ _ ((1 - eta) * K + eta * K)).
  by rewrite ler_add2r ler_wpmul2l ?subr_ge0 // IH // ltnW.
by rewrite -mulrDl subrK mul1r.
Qed.

Let distance u t := Ex (fun S => (lead_at (draw S) t - u) ^+ 2).
Let loss t := Ex (fun S => f t (lead_at (draw S) t)).

Lemma regret_of_leads u t : (t <= T)%N ->
  distance u t + eta * (\sum_(j < t) loss j)
    <= u ^+ 2 + eta * (\sum_(j < t) f j u) + 4%:R * K * eta ^+ 2 * t%:R.
Proof.
elim: t => [_|t IH t_lt].
  rewrite !big_ord0 !mulr0 !addr0 -[X in _ <= X](finite_expect_const draws T).
  by apply: finite_expect_le => S; rewrite /= sub0r sqrrN.
have step : distance u t.+1 <= distance u t - eta * (loss t - f t u)
    + eta ^+ 2 * (4%:R * K).
  rewrite /distance.
  rewrite [X in X <= _](expect_draw
    (fun w e => (next w (estimate_at t e) - u) ^+ 2) t_lt).
  apply: le_trans (finite_expect_le draws
    (fun S => next_distance (lead_at (draw S) t) u t)) _.
  have moment := second_moment (ltnW t_lt).
  rewrite (finite_expect_ext draws (g := fun S =>
    (2%:R * eta ^+ 2) * lead_at (draw S) t ^+ 2
    + ((- eta) * f t (lead_at (draw S) t) + (1 * (lead_at (draw S) t - u) ^+ 2
      + (eta * f t u + eta ^+ 2 * (2%:R * K)))))) => [|S]; last first.
    move: (lead_at (draw S) t) (f t u) => w a.
    by move: (f t w) => b; ring.
  rewrite !finite_expect_lin !finite_expect_const -/(distance u t) -/(loss t).
  have := ler_wpmul2l (mulr_ge0 (ler0n R 2) (sqr_ge0 eta)) moment.
  move: (finite_expect _ _) (loss t) (distance u t) => a b d le_a.
  rewrite -subr_ge0 in le_a; rewrite -subr_ge0; apply: le_trans le_a _.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have := ler_add step (IH (ltnW t_lt)).
rewrite !big_ord_recr /= mulrSr.
move: (distance u t.+1) (loss t) (distance u t) (f t u) => a b d v.
move: (\sum_(j < t) loss j) (\sum_(j < t) f j u) => s s' le_sum.
rewrite -subr_ge0 in le_sum; rewrite -subr_ge0; apply: le_trans le_sum _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* The draw costs little besides the loss of the half difference. *)
Lemma expected_round_loss t : (t < T)%N ->
  Ex (fun S => round_loss t (lead_at (draw S) t) (draw S t))
    <= 2%:R * loss t + 2%:R * gamma * kappa ^+ 2.
Proof.
move=> t_lt; rewrite [X in X <= _](expect_draw (round_loss t) t_lt).
rewrite -[X in _ <= _ + X](finite_expect_const draws T) -finite_expect_lin.
apply: finite_expect_le => S /=; rewrite -/(c t) -/(f t _).
have f_ge0 : 0 <= f t (lead_at (draw S) t) := sqr_ge0 _.
have c_le := ler_wpmul2l (ltW gamma_gt0) (c_square t).
have fg_ge0 := mulr_ge0 (ltW gamma_gt0) f_ge0.
move: (f t _) (c t ^+ 2) (kappa ^+ 2) c_le fg_ge0 => w a b c_le fg_ge0.
rewrite -subr_ge0 in c_le; rewrite -subr_ge0.
apply: le_trans (mulr_ge0 (ler0n R 2) (addr_ge0 c_le fg_ge0)) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.

(* Any scores lose at least as much as half their difference. *)
Lemma fixed_loss_ge (s : 'I_2 -> R) :
  2%:R * (\sum_(t < T) f t ((s ord0 - s ord_max) / 2%:R))
    <= fixed_loss centred_loss s y T.
Proof.
rewrite mulr_sumr; apply: ler_sum => t _; rewrite centred_lossE /f /c.
move: (kappa * _) (s ord0) (s ord_max) => k a b; rewrite -subr_ge0.
have := sqr_ge0 ((a + b) / 2%:R); move/(mulr_ge0 (ler0n R 2))/le_trans; apply.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.

(* In N^3 rounds the regret against any scores is of the order of N^2. *)
Lemma explorer_regret (s : 'I_2 -> R) :
  Ex (fun S => total_loss centred_loss (explorer (draw S)) y T)
      - fixed_loss centred_loss s y T
    <= (2%:R * ((s ord0 - s ord_max) / 2%:R) ^+ 2 + 34%:R * kappa ^+ 2) * N%:R ^+ 2.
Proof.
set u := (s ord0 - s ord_max) / 2%:R.
have total : Ex (fun S => total_loss centred_loss (explorer (draw S)) y T)
    <= 2%:R * (\sum_(t < T) loss t) + T%:R * (2%:R * gamma * kappa ^+ 2).
  rewrite -[X in X <= _]/(expect (law_of draws) _) /total_loss.
  rewrite (@expect_sum _ _ (law_of draws) T _ _
    (fun (i : 'I_T) (S : sample (option bool) T) =>
       centred_loss (scores_after (explorer (draw S)) (seen (explorer (draw S)) y i))
         (y i))) //.
  rewrite mulr_sumr mulr_natl -[X in _ + _ *+ X]card_ord -sumr_const -big_split.
  apply: ler_sum => i _; apply: le_trans (expected_round_loss (ltn_ord i)).
  rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: finite_expect_ext => S.
  exact: loss_of_explorer.
have regret := regret_of_leads u (leqnn T).
have distance_ge0 : 0 <= distance u T.
  rewrite -(finite_expect_const draws T 0).
  by apply: finite_expect_le => S; apply: sqr_ge0.
have fixed := fixed_loss_ge s; rewrite -/u in fixed.
have scaled : 2%:R * (\sum_(t < T) loss t) <= 2%:R * (\sum_(t < T) f t u)
    + 2%:R * (u ^+ 2 + 4%:R * K * eta ^+ 2 * T%:R) / eta.
  rewrite -(ler_pmul2l eta_gt0).
  rewrite -subr_ge0 in regret; rewrite -subr_ge0.
  apply: le_trans (mulr_ge0 (ler0n R 2) (addr_ge0 regret distance_ge0)) _.
  move: (distance u T) (\sum_(t < T) loss t) (\sum_(t < T) f t u) => a b d.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite gt_eqF.
rewrite ler_subl_addl; apply: le_trans total _.
apply: le_trans (ler_add scaled (lexx _)) _.
rewrite -addrA; apply: ler_add => //.
rewrite /K /eta /gamma /T natrX le_eqVlt; apply/orP; left; apply/eqP; field.
by rewrite gt_eqF.
Qed.

End TwoDocuments.

(* The surrogate has equation (8), and for every N there is a learner with draws
   that are independent, whose expected regret after N^3 rounds is at most C N^2
   against every sequence of labels and scores s, where C depends on s and on the
   discount of the first rank only. *)
Theorem topk_theorem_5_2_is_false_for_two_documents (R : realFieldType)
    (G : gain R) (D : discount R) : 0 < G 1%N -> 0 < D 0%N ->
  exists phi : ('I_2 -> R) -> labels 2 1 -> R, equation_8 G D phi /\
    forall N : nat, (0 < N)%N ->
    exists (p : finite_law R [finType of option bool])
      (A : sample (option bool) (N ^ 3) -> learner R 2),
    forall (y : nat -> labels 2 1) (s : 'I_2 -> R),
      finite_expect p (fun S => total_loss phi (A S) y (N ^ 3))
          - fixed_loss phi s y (N ^ 3)
        <= (2%:R * ((s ord0 - s ord_max) / 2%:R) ^+ 2
            + 34%:R * (2%:R * D 0%N)^-1 ^+ 2) * N%:R ^+ 2.
Proof.
move=> G1_gt0 D0_gt0; exists (centred_loss G D); split.
  exact: centred_loss_has_equation_8.
move=> N N_gt0; exists (draws R N_gt0), (fun S => explorer D N (draw S)) => y s.
exact: explorer_regret.
Qed.
