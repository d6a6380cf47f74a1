(* Section 5 of `slam`: the loss bound of its perceptron, Algorithm 1, with the
   step size of the proof, eta = 1 / (4 m R_X^2 v_max), for lists of any length.

   The proof is that of the paper: gradient descent has the regret (15), and the
   squared norm of a subgradient is at most a multiple of the loss (16). As in
   perceptron_bound.v, documents are vectors of any space with an inner product.

   Contents
     Gradient descent      equation (15) for all functions, and what follows from
                           it if (16) holds
     A round               equations (13), (14) and (16)
     AP and NDCG           Theorem 5, Corollary 6 and Corollary 7 for the weights
                           (6), (9) and (31); v_max is at most m/2 for AP

   The file wrong_neighbours_of_slam.v proves that the constant 4 is the least.
*)

From formal Require Import library perceptron_bound ranking_loss slam_losses.

(* ------------------------------------------------------------------------- *)
(* Gradient descent *)

Section GradientDescent.

Variables (R : realFieldType) (E : space R).
Variables (f : nat -> E -> R) (w z : nat -> E) (eta : R) (T : nat).

(* z_t is a subgradient of f_t at w_t, for t < T, and w_0 = 0. *)
Hypothesis start : w 0%N = 0.
Hypothesis update : forall t, (t < T)%N -> w t.+1 = w t - eta *: z t.
Hypothesis subgradient : forall t u, (t < T)%N ->
  f t (w t) + dot (z t) (u - w t) <= f t u.

(* ||w_n - u||^2 + 2 eta (sum f_t(w_t) - sum f_t(u))
   <= ||u||^2 + eta^2 sum ||z_t||^2, by induction over the rounds *)
Lemma distance_to_comparator u n : 0 < eta -> (n <= T)%N ->
  norm2 (w n - u)
      + (eta * (\sum_(t < n) f t (w t) - \sum_(t < n) f t u)) *+ 2
    <= norm2 u + eta ^+ 2 * \sum_(t < n) norm2 (z t).
Proof.
move=> eta_gt0; elim: n => [|n IH] n_lt.
  by rewrite !big_ord0 subrr !mulr0 mul0rn !addr0 start sub0r norm2N.
rewrite !big_ord_recr /= update //.
have := subgradient u n_lt; have {IH} := IH (ltnW n_lt).
set L := \sum_(t < n) f t (w t); set S := \sum_(t < n) norm2 (z t).
set F := \sum_(t < n) f t u => IH regret.
have -> : w n - eta *: z n - u = (w n - u) - eta *: z n by rewrite addrAC.
rewrite norm2B norm2Z dotZr; set a := norm2 (w n - u) in IH *.
have -> : dot (w n - u) (z n) = - dot (z n) (u - w n).
  by rewrite dotC -(opprB u) -scaleN1r dotZr mulN1r.
move: (dot (z n) (u - w n)) (norm2 (z n)) regret => d q regret.
rewrite -subr_ge0 in IH; rewrite -subr_ge0 in regret; rewrite -subr_ge0.
have := addr_ge0 IH (mulr_ge0 (mulrn_wge0 2 (ltW eta_gt0)) regret).
congr (0 <= _); ring.
Qed.

(* The regret of gradient descent, equation (15) *)
Theorem slam_equation_15 u : 0 < eta ->
  \sum_(t < T) f t (w t) - \sum_(t < T) f t u
    <= norm2 u / (2%:R * eta) + eta / 2%:R * \sum_(t < T) norm2 (z t).
Proof.
move=> eta_gt0; have eta2_gt0 : 0 < 2%:R * eta by rewrite mulr_gt0 ?ltr0n.
have := distance_to_comparator u eta_gt0 (leqnn T).
move/(le_trans (ler_paddl (norm2_ge0 _) (lexx _))).
rewrite -mulr_natl mulrA -ler_pdivl_mull // => /le_trans; apply.
rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
by rewrite gt_eqF.
Qed.

(* If the squared norms of all z_t are at most c f_t(w_t), as (16) says with
   c = 4 m R_X^2 v_max, and the step is 1/c. If c is 0, so are all z_t. *)
Lemma loss_of_small_steps (c : R) u : 0 <= c -> eta = c^-1 ->
  (forall t, (t < T)%N -> 0 <= f t u) ->
  (forall t, (t < T)%N -> norm2 (z t) <= c * f t (w t)) ->
  \sum_(t < T) f t (w t) <= 2%:R * (\sum_(t < T) f t u) + c * norm2 u.
Proof.
rewrite le_eqVlt => /predU1P[<- _ f_ge0 z_le|c_gt0 eta_c f_ge0 z_le].
  have F_ge0 : 0 <= \sum_(t < T) f t u by apply: sumr_ge0 => t _; apply: f_ge0.
  apply: (@le_trans _ _ (\sum_(t < T) f t u)); last first.
    by rewrite mul0r addr0 mulr_natl mulr2n ler_addl.
  apply: ler_sum => t _; have := subgradient u (ltn_ord t).
  suff -> : dot (z t) (u - w t) = 0 by rewrite addr0.
  apply/eqP; rewrite -sqrf_eq0 eq_le sqr_ge0 andbT.
  apply: le_trans (CauchySchwarz _ _) _.
  rewrite (_ : norm2 (z t) = 0) ?mul0r //; apply/eqP.
  by rewrite eq_le norm2_ge0 andbT; have := z_le t (ltn_ord t); rewrite mul0r.
have eta_gt0 : 0 < eta by rewrite eta_c invr_gt0.
have norms_le : eta * (\sum_(t < T) norm2 (z t)) <= \sum_(t < T) f t (w t).
  rewrite mulr_sumr; apply: ler_sum => t _.
  by rewrite eta_c ler_pdivr_mull // z_le.
have := slam_equation_15 u eta_gt0; rewrite -subr_ge0 => regret.
rewrite -subr_ge0; rewrite -subr_ge0 in norms_le.
have := addr_ge0 (mulrn_wge0 2 regret) norms_le.
have -> : c = eta^-1 by rewrite eta_c invrK.
congr (0 <= _); field.
by rewrite gt_eqF.
Qed.

End GradientDescent.

(* ------------------------------------------------------------------------- *)
(* A round *)

Section Round.

Variables (R : realFieldType) (E : space R) (r : round E).
Implicit Types (s : 'I_(m r) -> R) (i j : 'I_(m r)) (u : E).

(* Equation (13): f_t, if the round is ranked by the scores s *)
Definition f_13 s u : R := if RML s != 0 then slam_loss (scores r u) else 0.

(* Equation (14): z_t *)
Definition z_14 s : E := if RML s != 0 then z algorithm_1 s else 0.

(* v_max is at least the quotient of any two weights that are not 0. *)
Definition quotients_at_most (v_max : R) :=
  forall i j, 0 < v i -> 0 < v j -> v i <= v_max * v j.

(* At most K weights are not 0. *)
Definition weights_at_most (K : nat) := (#|[set i | (0 < v (r := r) i)%R]| <= K)%N.

Lemma weights_at_most_m : weights_at_most (m r).
Proof. by rewrite /weights_at_most -[X in (_ <= X)%N]card_ord max_card. Qed.

Hypothesis r_ok : well_formed r.

Lemma slam_loss_ge0 s : 0 <= slam_loss s.
Proof.
by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?(v_ge0 r_ok) ?hinge_ge0.
Qed.

Lemma f_13_ge0 s u : 0 <= f_13 s u.
Proof. by rewrite /f_13; case: ifP => // _; apply: slam_loss_ge0. Qed.

(* The hinge of an active document is 1 + s_k(i) - s_i, and that of others 0. *)
Lemma hinge_le_active s i :
  hinge s i <= (if hinge_positive s i then 1 + s (k s i) - s i else 0).
Proof.
have [_ _ best] := r_ok.
rewrite /hinge_positive; case: (boolP (has_less i)) => [i_has|none] /=; last first.
  apply: hinge_le0 => j ji.
  by case/negP: none; apply/existsP; exists j.
have le_k j : less j i -> 1 + s j - s i <= 1 + s (k s i) - s i.
  move=> ji; rewrite ler_add2r ler_add2l.
  by case: (best s i i_has) => _; apply.
case: ifP => [pos|/negbT]; last rewrite -leNgt => neg.
  by apply: worst_hinge_le => //; apply: ltW.
by apply: hinge_le0 => j ji; apply: le_trans (le_k j ji) neg.
Qed.

(* f_t(w_t) = A_t + <z_t, w_t> *)
Lemma slam_loss_at_w (w' : E) :
  slam_loss (scores r w')
    <= A algorithm_1 (scores r w') + dot (z algorithm_1 (scores r w')) w'.
Proof.
set s := scores r w'.
rewrite /A /z dot_suml -big_split [X in _ <= X]big_mkcond.
apply: ler_sum => i _ /=.
apply: (@le_trans _ _ (v i * (if hinge_positive s i
    then 1 + s (k s i) - s i else 0))).
  by rewrite ler_wpmul2l ?(v_ge0 r_ok) // hinge_le_active.
rewrite /algorithm_1; case: ifP => _; last by rewrite mulr0.
by rewrite dotZl dotBl -addrA mulrDr mulr1.
Qed.

(* z_t is a subgradient of f_t at w_t. *)
Theorem slam_equation_14 (w' u : E) :
  f_13 (scores r w') w' + dot (z_14 (scores r w')) (u - w')
    <= f_13 (scores r w') u.
Proof.
rewrite /f_13 /z_14; set s := scores r w'.
case: ifP => _; last by rewrite dot0l addr0.
have := slam_loss_ge r_ok (fun s' i => id) s u (active := algorithm_1).
apply: le_trans; rewrite dotBr addrA addrAC ler_add2r ler_subl_addr.
exact: slam_loss_at_w.
Qed.

Hypothesis loss_le : loss_at_most_weights r.

Lemma RML_le_f_13 (w' : E) : RML (scores r w') <= f_13 (scores r w') w'.
Proof.
rewrite /f_13; case: ifP => [_|/negbT/negPn/eqP-> //].
apply: le_trans (loss_le _) _; apply: slam_loss_ge_misordered.
exact: v_ge0.
Qed.

(* If there is a ranking loss, some document is misordered, and has a weight. *)
Lemma misordered_if_loss s : 0 < RML s ->
  exists2 i, misordered s i & 0 < v i.
Proof.
move=> RML_gt0; apply/exists_inP; apply: contraLR RML_gt0.
rewrite negb_exists_in => /forall_inP none; rewrite -leNgt.
apply: le_trans (loss_le s) _; rewrite -oppr_ge0 -sumrN.
by apply: sumr_ge0 => i /none; rewrite -leNgt oppr_ge0.
Qed.

Hypothesis RML_ge0 : forall s, 0 <= RML s.

(* Equation (16), where K is the number of weights that are not 0 *)
Lemma norm2_z_le_f (R_X v_max : R) (K : nat) (w' : E) :
  (forall i, norm2 (x i) <= R_X ^+ 2) -> quotients_at_most v_max ->
  weights_at_most K ->
  norm2 (z_14 (scores r w'))
    <= 4%:R * K%:R * R_X ^+ 2 * v_max * f_13 (scores r w') w'.
Proof.
move=> norms quotients few; rewrite /z_14 /f_13; set s := scores r w'.
case: ifP => [loss|_]; last by rewrite mulr0 /norm2 dot0l.
have RML_gt0 : 0 < RML s by rewrite lt_def loss RML_ge0.
have dist i j : norm2 (x i - x j) <= (2%:R * R_X) ^+ 2 by apply: norm2B_le.
apply: le_trans (norm2_z_le algorithm_1 r_ok s dist) _.
have -> : 4%:R * K%:R * R_X ^+ 2 * v_max * slam_loss s
    = (2%:R * R_X) ^+ 2 * (K%:R * (v_max * slam_loss s)) by ring.
rewrite ler_wpmul2l ?sqr_ge0 //.
have [i mis v_gt0] := misordered_if_loss RML_gt0.
have v_le : v i <= slam_loss s.
  rewrite /slam_loss /SLAM_with (bigD1 i) //=; apply: ler_paddr.
    apply: sumr_ge0 => j _; rewrite mulr_ge0 ?(v_ge0 r_ok) //.
    exact: worst_hinge_ge0.
  exact: ler_pemulr (ltW v_gt0) (misordered_hinge_ge1 mis).
have v_max_ge0 : 0 <= v_max.
  by rewrite -(pmulr_lge0 _ v_gt0) (le_trans _ (quotients i i _ _)) // ltW.
apply: (@le_trans _ _ (\sum_(j in [set j | 0 < v (r := r) j]) v_max * v i)).
  rewrite /A big_mkcond [X in _ <= X]big_mkcond; apply: ler_sum => j _.
  rewrite inE; case: ltP => [v_j|v_j]; last by case: ifP.
  case: ifP => _; first exact: quotients.
  by rewrite mulr_ge0 // ltW.
rewrite sumr_const -[X in X <= _]mulr_natl ler_pmul ?mulr_ge0 ?ler0n //.
- exact: ltW.
- by rewrite ler_nat.
by rewrite ler_wpmul2l.
Qed.

End Round.

(* ------------------------------------------------------------------------- *)
(* AP and NDCG *)

Section RankingLosses.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat).
Variables (G : gain R) (D : discount R) (pos : 'I_m -> 'I_m).
Hypothesis pos_inj : injective pos.

(* At most K of the weights (31) of NDCG@K are not 0. *)
Lemma few_v_cut K : (#|[set i | (0 < v_cut label pos G (cut D K) i)%R]| <= K)%N.
Proof.
have sub : pos @: [set i | 0 < v_cut label pos G (cut D K) i] \subset first m K.
  apply/subsetP => c /imsetP[i]; rewrite inE => v_gt0 ->; rewrite inE.
  move: v_gt0; rewrite /v_cut cutE.
  by case: ifP => // _; rewrite mulr0 mul0r ltxx.
rewrite -(card_imset _ pos_inj); apply: leq_trans (subset_leq_card sub) _.
case: (leqP K m) => [K_le|/ltnW m_le]; first by rewrite card_first.
by apply: leq_trans m_le; rewrite -[X in (_ <= X)%N]card_ord max_card.
Qed.

(* After equation (18): v_max is at most m/2 for AP, on lists of two documents
   and more. *)
Theorem slam_v_max_for_AP (E : space R) (x : 'I_m -> E) k rank :
  (forall i, i \in level label 0 -> pos i < #|level label 0|)%N -> (1 < m)%N ->
  quotients_at_most (AP_round x label k rank pos) (m%:R / 2%:R).
Proof.
move=> pos_lt m_gt1 i j; rewrite /= !v_MAPE.
case: ifP => [i_rel|_]; last by rewrite ltxx.
case: ifP => [j_rel|_ _]; last by rewrite ltxx.
set r := #|level label 0|; set n := (m - r)%N => v_i _.
have n_gt0 : (0 < n)%N.
  by rewrite lt0n; apply: contraTneq v_i => ->; rewrite mul0r ltxx.
have r_le : (r <= m)%N by rewrite ltnW // -subn_gt0.
have split_v (a : R) : n%:R / (r%:R * a) = n%:R / r%:R * a^-1.
  by rewrite invfM mulrA.
rewrite !split_v [X in _ <= X]mulrCA.
rewrite ler_wpmul2l ?mulr_ge0 ?invr_ge0 ?ler0n //.
rewrite ler_pdivl_mulr ?ltr0n ?addnS // mulrC ler_pdivr_mulr ?ltr0n ?addnS //.
rewrite mulrAC ler_pdivl_mulr ?ltr0n // -!natrM ler_nat leq_mul //.
  by rewrite -addnS -[X in (_ <= X)%N](subnK r_le) leq_add2l pos_lt.
by rewrite ltnS addn_gt0 n_gt0.
Qed.

End RankingLosses.

Section Bounds.

Variables (R : realFieldType) (E : space R) (G : gain R) (D : discount R).

(* A round of section 5, whose ranking loss is 1 - AP, with the weights (6), or
   1 - NDCG, with the weights (9) *)
Definition paper_round (r : round E) :=
  round_with G D AP_6 r \/ round_with G D NDCG_9 r.

(* A round of Corollary 7, whose ranking loss is 1 - NDCG@K, with the weights
   (31) *)
Definition paper_round_at (K : nat) (r : round E) :=
  round_with G D (NDCG_31 K) r.

Lemma paper_round_with r : paper_round r -> exists w, round_with G D w r.
Proof. by case; [exists AP_6 | exists NDCG_9]. Qed.

(* After equation (13): f_t(w_t) is at least the ranking loss. *)
Theorem slam_equation_13 r (w' : E) : paper_round r ->
  RML (scores r w') <= f_13 (scores r w') w'.
Proof.
by move=> /paper_round_with[w /round_with_ok[ok loss_le _]]; apply: RML_le_f_13.
Qed.

(* If there is a ranking loss, some less relevant document has at least the score
   of a more relevant one, whose hinge is then at least 1. *)
Theorem slam_mistakes r (s : 'I_(m r) -> R) : paper_round r -> RML s != 0 ->
  exists i j, [/\ less j i, s i <= s j & 1 <= hinge s i].
Proof.
move=> /paper_round_with[w /round_with_ok[ok loss_le RML_ge0]] loss.
have [|i mis _] := misordered_if_loss loss_le (s := s).
  by rewrite lt_def loss RML_ge0.
have := misordered_hinge_ge1 mis; have /existsP[j /andP[ji s_le]] := mis.
by exists i, j.
Qed.

(* Proposition 4, equation (16) *)
Theorem slam_proposition_4 r (R_X v_max : R) (w' : E) : paper_round r ->
  (forall i : 'I_(m r), norm2 (x i) <= R_X ^+ 2) -> quotients_at_most r v_max ->
  norm2 (z_14 (scores r w'))
    <= 4%:R * (m r)%:R * R_X ^+ 2 * v_max * f_13 (scores r w') w'.
Proof.
move=> /paper_round_with[w /round_with_ok[ok loss_le RML_ge0]] norms quotients.
exact: norm2_z_le_f (weights_at_most_m r).
Qed.

(* The same for NDCG@K, where K takes the place of m, as the proof of Corollary 7
   needs it *)
Lemma few_weights_at K r : paper_round_at K r -> weights_at_most r K.
Proof.
rewrite /paper_round_at; move: {-2}(NDCG_31 K) (erefl (NDCG_31 K)) => w w_K r_w.
case: r_w w_K => // {r w} m x label k rank pos K' _ pos_inj _ _ [<-].
exact: few_v_cut.
Qed.

Theorem slam_proposition_4_at K r (R_X v_max : R) (w' : E) :
  paper_round_at K r ->
  (forall i : 'I_(m r), norm2 (x i) <= R_X ^+ 2) -> quotients_at_most r v_max ->
  norm2 (z_14 (scores r w'))
    <= 4%:R * K%:R * R_X ^+ 2 * v_max * f_13 (scores r w') w'.
Proof.
move=> r_K norms quotients; have [ok loss_le RML_ge0] := round_with_ok r_K.
exact: norm2_z_le_f (few_weights_at r_K).
Qed.

Variables (X : nat -> round E) (T : nat) (R_X v_max : R) (n : nat).

(* R_X is at least the norm of every document, and v_max at least the quotient
   of any two weights of a round that are not 0. *)
Hypothesis norms :
  forall t, (t < T)%N -> forall i : 'I_(m (X t)), norm2 (x i) <= R_X ^+ 2.
Hypothesis v_max_ge0 : 0 <= v_max.
Hypothesis quotients : forall t, (t < T)%N -> quotients_at_most (X t) v_max.

(* The step size is eta = 1/c, with n in place of the paper's m; 1/0 is 0, which
   is a step at which nothing is learned, where there is nothing to learn. *)
Let c := 4%:R * n%:R * R_X ^+ 2 * v_max.

Let c_ge0 : 0 <= c.
Proof. by rewrite mulr_ge0 // mulr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n. Qed.

(* In place of a round of the paper, what the proof uses of it *)
Definition bounded (r : round E) K :=
  [/\ well_formed r, loss_at_most_weights r, forall s, 0 <= RML (r := r) s
    & weights_at_most r K].

Lemma loss_of_bounded_rounds u :
  (forall t, (t < T)%N -> exists2 K, bounded (X t) K & (K <= n)%N) ->
  total_RML algorithm_1 c^-1 X T
    <= 2%:R * F algorithm_1 c^-1 X u T
       + 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max.
Proof.
move=> all_bounded.
pose w t := w algorithm_1 c^-1 X t; pose s t := scores (X t) (w t).
pose f t u := f_13 (s t) u; pose z t := z_14 (s t).
have -> : 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max = c * norm2 u.
  by rewrite /c; ring.
have -> : F algorithm_1 c^-1 X u T = \sum_(t < T) f t u.
  by rewrite /F big_mkcond.
apply: (@le_trans _ _ (\sum_(t < T) f t (w t))).
  apply: ler_sum => t _; have [K [ok loss_le _ _] _] := all_bounded t (ltn_ord t).
  exact: RML_le_f_13.
apply: (@loss_of_small_steps _ _ f w z c^-1 T) => // t.
- move=> _; rewrite /w w_S /z /z_14 /lossy -/(s t).
  by case: ifP => _ //; rewrite scaler0 subr0.
- move=> u' /all_bounded[K [ok _ _ _] _]; exact: slam_equation_14.
- by move=> /all_bounded[K [ok _ _ _] _]; apply: f_13_ge0.
move=> t_lt; have [K [ok loss_le RML_ge0 few] K_le] := all_bounded t t_lt.
apply: norm2_z_le_f => //; [exact: norms | exact: quotients|].
exact: leq_trans few K_le.
Qed.

(* A comparator that separates documents of different labels has no loss. *)
Lemma no_loss_of_separating (u1 : E) (gamma : R) : 0 < gamma ->
  well_formed_rounds X T ->
  (forall t, (t < T)%N -> forall i j : 'I_(m (X t)),
     less j i -> gamma <= dot (x i - x j) u1) ->
  F algorithm_1 c^-1 X (gamma^-1 *: u1) T <= 0.
Proof.
move=> gamma_gt0 rounds_ok apart; rewrite -oppr_ge0 -sumrN.
apply: sumr_ge0 => t _; rewrite -sumrN; apply: sumr_ge0 => i _.
rewrite oppr_ge0 mulr_ge0_le0 ?(v_ge0 (rounds_ok _ (ltn_ord t))) //.
apply: hinge_le0 => j ji; rewrite /scores !dotZr -addrA -mulrBr -opprB -dotBl.
by rewrite mulrN subr_le0 ler_pdivl_mull // mulr1 (apart t).
Qed.

Let bound_of_margin (gamma : R) (u1 : E) : norm2 u1 = 1 ->
  4%:R * norm2 (gamma^-1 *: u1) * n%:R * R_X ^+ 2 * v_max
    = 4%:R * n%:R * R_X ^+ 2 * v_max / gamma ^+ 2.
Proof.
move=> unit; rewrite norm2Z unit mulr1 exprVn.
by move: (gamma ^+ 2)^-1 => a; ring.
Qed.

Section OfThePaper.

Hypothesis rounds : forall t, (t < T)%N -> paper_round (X t).
Hypothesis short : forall t, (t < T)%N -> (m (X t) <= n)%N.

(* Theorem 5, for lists of at most n documents: equation (17) *)
Theorem slam_theorem_5 u :
  total_RML algorithm_1 c^-1 X T
    <= 2%:R * F algorithm_1 c^-1 X u T
       + 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max.
Proof.
apply: loss_of_bounded_rounds => t t_lt; exists (m (X t)); last exact: short.
have [w /round_with_ok[ok loss_le RML_ge0]] := paper_round_with (rounds t_lt).
by split=> //; apply: weights_at_most_m.
Qed.

(* Equation (18): the loss if u has none *)
Theorem slam_equation_18 u : F algorithm_1 c^-1 X u T = 0 ->
  total_RML algorithm_1 c^-1 X T
    <= 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max.
Proof.
by move=> no_loss; have := slam_theorem_5 u; rewrite no_loss mulr0 add0r.
Qed.

(* Corollary 6: a unit vector u1 ranks all documents with the margin gamma. *)
Theorem slam_corollary_6 (gamma : R) (u1 : E) :
  norm2 u1 = 1 -> 0 < gamma ->
  (forall t, (t < T)%N -> forall i j : 'I_(m (X t)),
     less j i -> gamma <= dot (x i - x j) u1) ->
  total_RML algorithm_1 c^-1 X T
    <= 4%:R * n%:R * R_X ^+ 2 * v_max / gamma ^+ 2.
Proof.
move=> unit gamma_gt0 apart; rewrite -(bound_of_margin _ unit).
apply: le_trans (slam_theorem_5 (gamma^-1 *: u1)) _.
rewrite ger_addr pmulr_rle0 ?ltr0n //; apply: no_loss_of_separating => //.
by move=> t /rounds/paper_round_with[w /round_with_ok[]].
Qed.

End OfThePaper.

(* Corollary 7: for NDCG@n, n takes the place of the number of documents. *)
Theorem slam_corollary_7 u :
  (forall t, (t < T)%N -> paper_round_at n (X t)) ->
  total_RML algorithm_1 c^-1 X T
    <= 2%:R * F algorithm_1 c^-1 X u T
       + 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max.
Proof.
move=> rounds; apply: loss_of_bounded_rounds => t /rounds r_n; exists n => //.
have [ok loss_le RML_ge0] := round_with_ok r_n.
by split=> //; apply: few_weights_at.
Qed.

End Bounds.
