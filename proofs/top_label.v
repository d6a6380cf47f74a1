(* Theorem 5.2 of `topk`: if only the label of the document on top is seen, every
   learner has linear regret in every surrogate that is calibrated for NDCG, for
   lists of three or more documents.

   In each round the learner gives scores to the documents of one list, whose
   features are those of the paper, X = I; then the label of a document with the
   greatest score is shown. A learner can draw its scores at random: it has a
   seed, which has any law.

   Contents
     The game              learners, what they have seen, their loss
     Indistinguishable     are two laws that give each document the same law of its
                           label: learners play alike against both
     Linear regret         against one of two such laws
     Theorem 5.2           two such laws with opposite orders of E[G/Z]
     A false neighbour     two documents: no such laws have opposite orders

   The file two_documents.v proves that the theorem is false for two documents.
*)

From formal Require Import library perceptron_bound ranking_loss finite_laws.
From formal Require Import calibration.
From mathcomp Require Import perm.

(* ------------------------------------------------------------------------- *)
(* The game *)

Section Game.

Variables (R : realFieldType) (m n : nat).
Notation labels := (labels m n).

(* What a learner does that has seen these labels, the last one first *)
Record learner := Learner {
  scores_after : seq nat -> 'I_m -> R;
  shown_after : seq nat -> 'I_m;
  shown_on_top : forall h j, scores_after h j <= scores_after h (shown_after h)
}.

Variable phi : ('I_m -> R) -> labels -> R.

Section Play.

Variables (A : learner) (y : nat -> labels).

(* The labels that are seen in the first t rounds *)
Fixpoint seen t : seq nat :=
  if t is t'.+1 then (y t' (shown_after A (seen t')) : nat) :: seen t' else [::].

Definition total_loss T : R := \sum_(t < T) phi (scores_after A (seen t)) (y t).

End Play.

(* The loss of scores that are the same in all rounds *)
Definition fixed_loss s (y : nat -> labels) T : R := \sum_(t < T) phi s (y t).

(* ------------------------------------------------------------------------- *)
(* Indistinguishable laws *)

Implicit Types (p q : finite_law R [finType of labels]).

(* Labels of T rounds; those of later ones are never used. *)
Definition no_labels : labels := [ffun=> ord0].
Definition rounds T (S : sample labels T) t : labels :=
  if insub t is Some i then S i else no_labels.

Lemma roundsE T (S : sample labels T) (i : 'I_T) : rounds S i = S i.
Proof. by rewrite /rounds valK. Qed.

(* What is seen before round i does not depend on its labels. *)
Lemma seen_of_others A T (S S' : sample labels T) (i : 'I_T) :
  (forall j, j != i -> S j = S' j) -> seen A (rounds S) i = seen A (rounds S') i.
Proof.
move=> others; suff early t : (t <= i)%N -> seen A (rounds S) t = seen A (rounds S') t.
  exact: early.
elim: t => // t IH t_lt /=; rewrite IH 1?ltnW //.
suff -> : rounds S t = rounds S' t by [].
rewrite /rounds; case: insubP => // j _ j_t; apply: others.
by apply: contraTneq t_lt => <-; rewrite -j_t ltnn.
Qed.

(* The labels of a round are independent of what is seen before it. *)
Lemma expect_round p A T (i : 'I_T) (f : seq nat -> labels -> R) :
  finite_expect p (fun S : sample labels T => f (seen A (rounds S) i) (rounds S i))
    = finite_expect p (fun S : sample labels T => average p (f (seen A (rounds S) i))).
Proof.
have [|//|//|_ fresh] := @queries_are_independent R _ (law_of p) T i
  (fun S : sample labels T => f (seen A (rounds S) i)).
  by move=> S S' others z; rewrite (seen_of_others A others).
transitivity (finite_expect p (fun S : sample labels T =>
    f (seen A (rounds S) i) (S i))).
  by apply: finite_expect_ext => S; rewrite roundsE.
rewrite -[LHS]/(expect (law_of p) _) fresh; apply: finite_expect_ext => S.
by rewrite mean_law_of.
Qed.

(* Each document has the same law of its label under p and q. *)
Definition indistinguishable p q := forall j (f : nat -> R),
  average p (fun y => f (y j)) = average q (fun y => f (y j)).

(* Then the learner sees the same under both. *)
Lemma seen_alike p q A T t (f : seq nat -> R) : indistinguishable p q -> (t <= T)%N ->
  finite_expect p (fun S : sample labels T => f (seen A (rounds S) t))
    = finite_expect q (fun S : sample labels T => f (seen A (rounds S) t)).
Proof.
move=> alike; elim: t f => [|t IH] f t_lt.
  by rewrite /= !finite_expect_const.
pose g h (y : labels) := f ((y (shown_after A h) : nat) :: h).
have := expect_round p A (Ordinal t_lt) g; have := expect_round q A (Ordinal t_lt) g.
rewrite /= /g => -> ->; rewrite (IH (fun h => average p (g h)) (ltnW t_lt)).
by apply: finite_expect_ext => S; rewrite (alike _ (fun l => f (l :: _))).
Qed.

(* ------------------------------------------------------------------------- *)
(* Linear regret *)

Section TwoLaws.

Variables (p q : finite_law R [finType of labels]).
Hypothesis alike : indistinguishable p q.

Definition middle_weight (y : labels) : R := (p y + q y) / 2%:R.

Lemma middle_ge0 y : 0 <= middle_weight y.
Proof. by rewrite divr_ge0 ?ler0n // addr_ge0 ?weight_ge0. Qed.

Lemma middle_sum : \sum_y middle_weight y = 1.
Proof. by rewrite -mulr_suml big_split /= !weight_sum; field. Qed.

Definition middle_law := FiniteLaw middle_ge0 middle_sum.

Lemma average_middle f : average middle_law f = (average p f + average q f) / 2%:R.
Proof.
rewrite /average -big_split mulr_suml; apply: eq_bigr => y _ /=.
by rewrite /middle_weight mulrAC -mulrDl.
Qed.

Variables (s_p s_q s_mid : 'I_m -> R).

(* How much more the best scores for the middle of the laws lose than the best
   for each *)
Definition gap : R := conditional_risk phi middle_law s_mid
  - (conditional_risk phi p s_p + conditional_risk phi q s_q) / 2%:R.

Lemma expected_fixed_loss r s T :
  finite_expect r (fun S : sample labels T => fixed_loss s (rounds S) T)
    = conditional_risk phi r s *+ T.
Proof.
rewrite -[LHS]/(expect (law_of r) _) /fixed_loss.
rewrite (@expect_sum _ _ (law_of r) T _ _
  (fun (i : 'I_T) (S : sample labels T) => phi s (rounds S i))) //.
rewrite (eq_bigr (fun=> conditional_risk phi r s)) => [|i _].
  by rewrite sumr_const card_ord.
have [//|_ at_i] := @expect_at R _ (law_of r) T i (phi s).
transitivity (mean (law_of r) (phi s)); last exact: mean_law_of.
by rewrite -at_i; apply: finite_expect_ext => S; rewrite roundsE.
Qed.

Hypothesis mid_least :
  forall s, conditional_risk phi middle_law s_mid <= conditional_risk phi middle_law s.

(* Against the two laws together, the regret is at least twice the gap per round. *)
Lemma regret_against_both A T :
  (gap *+ T) *+ 2
    <= finite_expect p (fun S : sample labels T =>
         total_loss A (rounds S) T - fixed_loss s_p (rounds S) T)
       + finite_expect q (fun S : sample labels T =>
           total_loss A (rounds S) T - fixed_loss s_q (rounds S) T).
Proof.
have split r s : finite_expect r (fun S : sample labels T =>
      total_loss A (rounds S) T - fixed_loss s (rounds S) T)
    = \sum_(t < T) finite_expect r (fun S : sample labels T =>
        conditional_risk phi r (scores_after A (seen A (rounds S) t)))
      - conditional_risk phi r s *+ T.
  rewrite -expected_fixed_loss -[LHS]/(expect (law_of r) _).
  rewrite (@expectB _ _ (law_of r) T) //; congr (_ - _).
  rewrite /total_loss (@expect_sum _ _ (law_of r) T _ _
    (fun (i : 'I_T) (S : sample labels T) =>
       phi (scores_after A (seen A (rounds S) i)) (rounds S i))) //.
  apply: eq_bigr => i _.
  exact: (expect_round r A i (fun h => phi (scores_after A h))).
rewrite (split p s_p) (split q s_q) addrACA -opprD -mulrnDl -big_split.
rewrite ler_subr_addr [gap *+ T *+ 2]mulrnAC -mulrnDl.
have twice (a b : R) : (a - b / 2%:R) *+ 2 + b = a *+ 2.
  by rewrite !mulr2n; field.
rewrite /gap twice; set best := conditional_risk phi middle_law s_mid.
have -> : best *+ 2 *+ T = \sum_(t < T) best *+ 2 by rewrite sumr_const card_ord.
apply: ler_sum => t _ /=.
have -> : finite_expect q (fun S : sample labels T =>
      conditional_risk phi q (scores_after A (seen A (rounds S) t)))
    = finite_expect p (fun S : sample labels T =>
      conditional_risk phi q (scores_after A (seen A (rounds S) t))).
  symmetry; apply: (@seen_alike p q A T t
    (fun h => conditional_risk phi q (scores_after A h)) alike).
  exact: ltnW.
rewrite -[X in X + _]mul1r -finite_expect_lin.
rewrite -[X in X <= _](finite_expect_const p T).
apply: finite_expect_le => S; rewrite mul1r.
have := mid_least (scores_after A (seen A (rounds S) t)).
rewrite -/best [X in _ <= X]average_middle => le_mid.
by rewrite -mulr_natr -ler_pdivl_mulr ?ltr0n.
Qed.

(* So a learner with a random seed has this regret against some labels. *)
Lemma linear_regret (Seed : Type) (P : law R Seed) (A : Seed -> learner) T :
  (forall y, integrable1 P (fun seed => total_loss (A seed) y T)) ->
  exists y s, (s = s_p \/ s = s_q)
    /\ gap * T%:R <= mean P (fun seed => total_loss (A seed) y T) - fixed_loss s y T.
Proof.
move=> loss_ok.
pose r s (S : sample labels T) :=
  mean P (fun seed => total_loss (A seed) (rounds S) T) - fixed_loss s (rounds S) T.
have r_ok s (S : sample labels T) : integrable1 P (fun seed =>
    total_loss (A seed) (rounds S) T - fixed_loss s (rounds S) T).
  exact: integrableB (loss_ok _) (integrable_const _ _ _).
have r_mean s (S : sample labels T) : mean P (fun seed =>
    total_loss (A seed) (rounds S) T - fixed_loss s (rounds S) T) = r s S.
  rewrite /mean (expectB (loss_ok _) (integrable_const _ _ _)).
  by rewrite expect_const.
have swap u s : integrable1 P (fun seed => finite_expect u (fun S : sample labels T =>
      total_loss (A seed) (rounds S) T - fixed_loss s (rounds S) T))
    /\ mean P (fun seed => finite_expect u (fun S : sample labels T =>
      total_loss (A seed) (rounds S) T - fixed_loss s (rounds S) T))
     = finite_expect u (r s).
  have ok S := integrableZ (product_weight u S) (r_ok s S).
  split; first exact: (integrable_sum _ ok).
  rewrite /mean /finite_expect (expect_sum _ ok); apply: eq_bigr => S _.
  by rewrite (expectZ _ (r_ok s S)) -r_mean.
have both : (gap *+ T) *+ 2 <= finite_expect p (r s_p) + finite_expect q (r s_q).
  have [p_ok <-] := swap p s_p; have [q_ok <-] := swap q s_q.
  rewrite /mean -(expectD p_ok q_ok) -[X in X <= _](expect_const P 1).
  apply: expect_le => [||S]; [exact: integrable_const | exact: integrableD |].
  exact: regret_against_both.
have some u s : gap *+ T <= finite_expect u (r s) ->
    exists S, gap * T%:R <= r s S.
  move=> le_r; apply/existsP; apply: contraLR le_r => /existsPn none; rewrite -ltNge.
  pose below S := gap *+ T - r s S.
  have [S0 S0_gt0] : exists S : sample labels T, 0 < product_weight u S.
    apply/existsP; apply: contraT => /existsPn zero.
    have := product_weight_sum u T; rewrite big1 => [/esym/eqP|S _].
      by rewrite oner_eq0.
    by apply/eqP; rewrite eq_le product_weight_ge0 leNgt zero.
  rewrite -subr_gt0 -[X in X - _](finite_expect_const u T) /finite_expect -sumrB.
  rewrite (bigD1 S0) //= ltr_spaddl //.
    by rewrite -mulrBr mulr_gt0 // subr_gt0 -mulr_natr ltNge none.
  apply: sumr_ge0 => S _; rewrite -mulrBr mulr_ge0 ?product_weight_ge0 //.
  by rewrite subr_ge0 -mulr_natr ltW // ltNge none.
case: (leP (gap *+ T) (finite_expect p (r s_p))) => [/some[S S_le]|lt_p].
  by exists (rounds S), s_p; split; [left|].
case: (leP (gap *+ T) (finite_expect q (r s_q))) => [/some[S S_le]|lt_q].
  by exists (rounds S), s_q; split; [right|].
by move: both; rewrite leNgt mulr2n ltr_add.
Qed.

End TwoLaws.

End Game.

(* ------------------------------------------------------------------------- *)
(* Theorem 5.2 *)

Section Theorem52.

Variables (R : realFieldType) (m n : nat) (G : gain R) (D : discount R).
Hypotheses (G1_gt0 : 0 < G 1%N) (D1_gt0 : 0 < D 1%N).
Notation labels := (labels m.+3 n.+1).
Variable phi : ('I_m.+3 -> R) -> labels -> R.
Hypothesis phi_8 : equation_8 G D phi.

(* The first three documents *)
Let d0 : 'I_m.+3 := ord0.
Let d1 : 'I_m.+3 := lift ord0 ord0.
Let d2 : 'I_m.+3 := lift ord0 (lift ord0 ord0).

(* The relevant documents are the first two, or the third; or they are the last two
   of the three, or the first: each with the probability 1/2. *)
Definition pair_first : finite_law R [finType of labels] :=
  image_law (coin R) (fun pair => relevant n (if pair then [set d0; d1] else [set d2])).
Definition pair_last : finite_law R [finType of labels] :=
  image_law (coin R) (fun pair => relevant n (if pair then [set d1; d2] else [set d0])).

(* The label of each document is relevant with the same probability. *)
Lemma pairs_indistinguishable : indistinguishable pair_first pair_last.
Proof.
move=> j f; rewrite !average_image !big_bool /= !relevantE !inE.
case: (eqVneq j d0) => [->|_] /=; first by rewrite addrC.
case: (eqVneq j d1) => [->|_] /=; first by [].
by rewrite addrC.
Qed.

Let D0_gt0 : 0 < D 0%N.
Proof. exact: lt_le_trans D1_gt0 (D_decreases D (leq0n 1)). Qed.

Let G1_neq0 : G 1%N != 0.
Proof. by rewrite gt_eqF. Qed.

Lemma share_one_of (j i : 'I_m.+3) :
  share G D (relevant n [set j]) i = (i == j)%:R / D 0%N.
Proof. by rewrite share_relevant // inE cards1 big_ord1. Qed.

Lemma share_two_of (j k i : 'I_m.+3) : j != k ->
  share G D (relevant n [set j; k]) i = ((i == j) || (i == k))%:R / (D 0%N + D 1%N).
Proof.
move=> j_k; rewrite share_relevant // !inE cards2 j_k.
by rewrite !big_ord_recl big_ord0 addr0.
Qed.

Lemma single_is_more : (D 0%N + D 1%N)^-1 < (D 0%N)^-1.
Proof. by rewrite ltf_pinv ?posrE ?addr_gt0 // ltr_addl. Qed.

Lemma half_gt0 : 0 < 2%:R^-1 :> R.
Proof. by rewrite invr_gt0 ltr0n. Qed.

Lemma order_of_pair_first : mean_share G D pair_first d0 < mean_share G D pair_first d2.
Proof.
rewrite /mean_share !average_image !big_bool /= !share_two_of // !share_one_of /=.
by rewrite !mul0r !mulr0 addr0 add0r !mul1r ltr_pmul2l ?half_gt0 // single_is_more.
Qed.

Lemma order_of_pair_last : mean_share G D pair_last d2 < mean_share G D pair_last d0.
Proof.
rewrite /mean_share !average_image !big_bool /= !share_two_of // !share_one_of /=.
by rewrite !mul0r !mulr0 addr0 add0r !mul1r ltr_pmul2l ?half_gt0 // single_is_more.
Qed.

(* The regret against some labels is at least c T, for the better of two vectors of
   scores s and s' that depend on neither the learner nor T. *)
Theorem topk_theorem_5_2 :
  exists (c : R) (s s' : 'I_m.+3 -> R), 0 < c /\
    forall (Seed : Type) (P : law R Seed) (A : Seed -> learner R m.+3) (T : nat),
      (forall y, integrable1 P (fun seed => total_loss phi (A seed) y T)) ->
      exists y u, (u = s \/ u = s')
        /\ c * T%:R
             <= mean P (fun seed => total_loss phi (A seed) y T) - fixed_loss phi u y T.
Proof.
have [g g_order [g_least g_only]] := phi_8 pair_first.
have [h h_order [h_least h_only]] := phi_8 pair_last.
have [k _ [k_least _]] := phi_8 (middle_law pair_first pair_last).
set s := g _ in g_least g_only; set s' := h _ in h_least h_only.
set mid := k _ in k_least.
exists (gap phi pair_first pair_last s s' mid), s, s'; split; last first.
  move=> Seed P A T loss_ok.
  exact: (linear_regret pairs_indistinguishable s s' k_least loss_ok).
have s_order : s d0 < s d2 := g_order _ _ _ order_of_pair_first.
have s'_order : s' d2 < s' d0 := h_order _ _ _ order_of_pair_last.
rewrite ltNge; apply/negP; rewrite subr_le0 [X in X <= _]average_middle.
rewrite ler_pmul2r ?half_gt0 // => le_sum.
have mid_s : mid =1 s.
  apply: g_only; rewrite -(ler_add2r (conditional_risk phi pair_last mid)).
  by apply: le_trans le_sum _; rewrite ler_add2l h_least.
have mid_s' : mid =1 s'.
  apply: h_only; rewrite -(ler_add2l (conditional_risk phi pair_first mid)).
  by apply: le_trans le_sum _; rewrite ler_add2r g_least.
have := lt_trans s_order (_ : s d2 < s d0).
by rewrite -!mid_s !mid_s' ltxx => /(_ s'_order).
Qed.

End Theorem52.

(* ------------------------------------------------------------------------- *)
(* A false neighbour *)

(* For two documents with binary labels, indistinguishable laws have the same order of
   E[G/Z]. *)
Section TwoDocuments.

Variables (R : realFieldType) (G : gain R) (D : discount R).
Hypothesis G1_gt0 : 0 < G 1%N.
Implicit Types (p q : finite_law R [finType of labels 2 1]).

Lemma label_set (y : labels 2 1) : y = relevant 0 [set i | (0 < y i)%N].
Proof.
apply/ffunP => i; apply/val_inj; rewrite /= relevantE inE.
by case: (y i) => [[|[|]]].
Qed.

(* The difference of two documents is that of their labels. *)
Lemma share_difference (y : labels 2 1) i j :
  share G D y i - share G D y j = ((y i)%:R - (y j)%:R) / D 0%N.
Proof.
have share_zero k : y k = 0%N :> nat -> share G D y k = 0.
  by move=> y0; rewrite /share y0 G0 mul0r.
have share_alone k l : y k = 1%N :> nat -> y l = 0%N :> nat -> l != k ->
    share G D y k = (D 0%N)^-1.
  move=> yk yl l_k; rewrite [y]label_set share_relevant ?gt_eqF // inE yk /= mul1r.
  suff -> : [set i0 | (0 < y i0)%N] = [set k] by rewrite cards1 big_ord1.
  apply/setP => o; rewrite !inE; have [->|o_k] := eqVneq o k; first by rewrite yk.
  suff -> : o = l by rewrite yl.
  by case: (two_cases o) (two_cases l) (two_cases k) o_k l_k => -> [] -> [] ->.
have binary k : y k = 0%N :> nat \/ y k = 1%N :> nat.
  by case: (y k) => [[|[|]]] // ? /=; [left | right].
have [<-|j_i] := eqVneq j i; first by rewrite !subrr mul0r.
case: (binary i) (binary j) => yi [] yj; rewrite ?yi ?yj.
- by rewrite !share_zero // !subrr mul0r.
- by rewrite (share_zero i) // (share_alone j i) 1?eq_sym // !sub0r mulN1r.
- by rewrite (share_alone i j) // (share_zero j) // !subr0 mul1r.
by rewrite subrr mul0r /share yi yj subrr.
Qed.

Theorem indistinguishable_laws_of_two_documents p q : indistinguishable p q ->
  forall i j, mean_share G D p i - mean_share G D p j
              = mean_share G D q i - mean_share G D q j.
Proof.
move=> alike i j; have diff (y : labels 2 1) := share_difference y i j.
have each (r : finite_law R [finType of labels 2 1]) :
    mean_share G D r i - mean_share G D r j
    = average r (fun y => (y i)%:R / D 0%N) - average r (fun y => (y j)%:R / D 0%N).
  rewrite /mean_share /average -!sumrB; apply: eq_bigr => y _.
  have := congr1 ( *%R (r y)) (diff y).
  by rewrite mulrBl !mulrBr.
by rewrite !each !(alike _ (fun l => l%:R / D 0%N)).
Qed.

End TwoDocuments.
