(* Section 5 of `slam`: the loss bound of its perceptron, Algorithm 1, with the
   step size of the proof, eta = 1 / (4 m R_X^2 v_max), for lists of any length.

   The proof is that of the paper: gradient descent has the regret (15), and the
   squared norm of a subgradient is at most a multiple of the loss (16). As in
   perceptron_bound.v, documents are vectors of any space with an inner product,
   and sums run over the rounds with a ranking loss.

   Contents
     A round               equations (13), (14) and (16)
     Gradient descent      equation (15), and what follows from it and (16)
     AP and NDCG           Theorem 5, Corollary 6 and Corollary 7 for the weights
                           (6), (9) and (31); v_max is at most m/2 for AP

   The file wrong_neighbours_of_slam.v proves that the constant 4 is the least.
*)

From mathcomp Require Import all_ssreflect all_algebra ring.
From formal Require Import perceptron_bound ranking_loss slam_losses.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* ------------------------------------------------------------------------- *)
(* A round *)

Section Round.

Variables (R : realFieldType) (E : space R) (r : round E).
Hypothesis r_ok : well_formed r.
Hypothesis loss_le : loss_at_most_weights r.
Implicit Types (s : 'I_(m r) -> R) (i j : 'I_(m r)) (u : E).

(* v_max is at least the quotient of any two weights that are not 0. *)
Definition quotients_at_most (v_max : R) :=
  forall i j, 0 < v i -> 0 < v j -> v i <= v_max * v j.

(* At most K weights are not 0. *)
Definition weights_at_most (K : nat) := (#|[set i | (0 < v (r := r) i)%R]| <= K)%N.

Lemma weights_at_most_m : weights_at_most (m r).
Proof. by rewrite /weights_at_most -[X in (_ <= X)%N]card_ord max_card. Qed.

Lemma slam_loss_ge0 s : 0 <= slam_loss s.
Proof.
by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?(v_ge0 r_ok) ?hinge_ge0.
Qed.

Lemma misordered_hinge_ge1 s i : misordered s i -> 1 <= hinge s i.
Proof.
case/existsP=> j /andP[ji s_le]; apply: le_trans (hinge_ge s ji).
by rewrite -addrA ler_addl subr_ge0.
Qed.

(* After equation (13): f_t(w_t) is at least the ranking loss. *)
Theorem slam_equation_13 s : RML s <= slam_loss s.
Proof.
apply: le_trans (loss_le s) _; rewrite /slam_loss big_mkcond.
apply: ler_sum => i _; case: ifP => [mis|_].
  by rewrite ler_pemulr ?(v_ge0 r_ok) ?misordered_hinge_ge1.
by rewrite mulr_ge0 ?(v_ge0 r_ok) ?hinge_ge0.
Qed.

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
  apply: (big_ind (fun a => a <= 1 + s (k s i) - s i)) => //; first exact: ltW.
  by move=> a b; rewrite le_maxl => -> ->.
by apply: hinge_le0 => j ji; apply: le_trans (le_k j ji) neg.
Qed.

(* f_t(w_t) = A_t + <z_t, w_t> *)
Lemma slam_loss_at_w (w' : E) :
  slam_loss (scores r w')
    <= A algorithm_1 (scores r w') + dot (z algorithm_1 (scores r w')) w'.
Proof.
set s := scores r w'; rewrite /A /z dot_suml -big_split [X in _ <= X]big_mkcond /slam_loss.
apply: ler_sum => i _ /=.
apply: (@le_trans _ _ (v i * (if hinge_positive s i
    then 1 + s (k s i) - s i else 0))).
  by rewrite ler_wpmul2l ?(v_ge0 r_ok) ?hinge_le_active.
rewrite /algorithm_1; case: ifP => _; last by rewrite mulr0.
by rewrite dotZl dotBl -addrA mulrDr mulr1.
Qed.

(* Equation (14): z_t is a subgradient of f_t at w_t. *)
Theorem slam_equation_14 (w' u : E) :
  slam_loss (scores r w') + dot (z algorithm_1 (scores r w')) (u - w')
    <= slam_loss (scores r u).
Proof.
set s := scores r w'; have := slam_loss_ge r_ok (fun s' i => id) s u (active := algorithm_1).
apply: le_trans; rewrite dotBr addrA addrAC ler_add2r ler_subl_addr.
exact: slam_loss_at_w.
Qed.

(* Proposition 4, equation (16), in a round with a ranking loss, where f_t is
   SLAM's loss. In the paper K is m; the proof of Corollary 7 has the number of
   weights that are not 0 in its place. *)
Theorem slam_proposition_4 (R_X v_max : R) (K : nat) s :
  (forall i, norm2 (x i) <= R_X ^+ 2) -> quotients_at_most v_max ->
  weights_at_most K -> 0 < RML s ->
  norm2 (z algorithm_1 s) <= 4%:R * K%:R * R_X ^+ 2 * v_max * slam_loss s.
Proof.
move=> norms quotients few RML_gt0.
have dist i j : norm2 (x i - x j) <= (2%:R * R_X) ^+ 2 by apply: norm2B_le.
apply: le_trans (norm2_z_le algorithm_1 r_ok s dist) _.
have -> : 4%:R * K%:R * R_X ^+ 2 * v_max * slam_loss s
    = (2%:R * R_X) ^+ 2 * (K%:R * (v_max * slam_loss s)) by ring.
rewrite ler_wpmul2l ?sqr_ge0 //.
have [i mis v_gt0] : exists2 i, misordered s i & 0 < v i.
  apply/exists_inP; apply: contraLR RML_gt0; rewrite negb_exists_in.
  move=> /forall_inP none; rewrite -leNgt; apply: le_trans (loss_le s) _.
  rewrite -oppr_ge0 -sumrN; apply: sumr_ge0 => i /none.
  by rewrite -leNgt oppr_ge0.
have v_le : v i <= slam_loss s.
  rewrite /slam_loss (bigD1 i) //=; apply: ler_paddr.
    by apply: sumr_ge0 => j _; rewrite mulr_ge0 ?(v_ge0 r_ok) ?hinge_ge0.
  by rewrite ler_pemulr ?misordered_hinge_ge1 // ltW.
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
(* Gradient descent *)

Section GradientDescent.

Variables (R : realFieldType) (E : space R).
Variables (eta : R) (X : nat -> round E) (T : nat).
Hypothesis eta_gt0 : 0 < eta.
Hypothesis rounds_ok : well_formed_rounds X T.

Let s_ t := s_ algorithm_1 eta X t.
Arguments s_ : clear implicits.
Let w_ t := w algorithm_1 eta X t.
Let lossy t := lossy algorithm_1 eta X t.
Let F u n := F algorithm_1 eta X u n.

(* In n rounds: sum f_t(w_t), and sum ||z_t||^2. As f_t and z_t are 0 in rounds
   without a ranking loss, these do not count. *)
Definition own_loss n : R := \sum_(t < n | lossy t) slam_loss (s_ t).
Definition norms_of_z n : R :=
  \sum_(t < n | lossy t) norm2 (z algorithm_1 (s_ t)).

Lemma own_loss_S n :
  own_loss n.+1 = if lossy n then own_loss n + slam_loss (s_ n) else own_loss n.
Proof.
rewrite /own_loss big_mkcond big_ord_recr -big_mkcond /=.
by case: ifP; rewrite ?addr0.
Qed.

Lemma norms_of_z_S n : norms_of_z n.+1
  = if lossy n then norms_of_z n + norm2 (z algorithm_1 (s_ n))
    else norms_of_z n.
Proof.
rewrite /norms_of_z big_mkcond big_ord_recr -big_mkcond /=.
by case: ifP; rewrite ?addr0.
Qed.

(* ||w_n - u||^2 + 2 eta (sum f_t(w_t) - sum f_t(u))
   <= ||u||^2 + eta^2 sum ||z_t||^2, by induction over the rounds *)
Lemma distance_to_comparator u n : (n <= T)%N ->
  norm2 (w_ n - u) + (eta * (own_loss n - F u n)) *+ 2
    <= norm2 u + eta ^+ 2 * norms_of_z n.
Proof.
elim: n => [|n IH] n_lt.
  rewrite /own_loss /F /perceptron_bound.F /norms_of_z !big_ord0 subrr.
  by rewrite !mulr0 mul0rn !addr0 sub0r norm2N.
rewrite own_loss_S norms_of_z_S /F F_S /w_ w_S -/(s_ n) -/(w_ n) -/(lossy n).
case: ifP => _; last by rewrite IH // ltnW.
have := slam_equation_14 (rounds_ok n_lt) (w_ n) u; rewrite -/(s_ n).
have {IH} := IH (ltnW n_lt); rewrite /F /=.
set zn := z algorithm_1 (s_ n); set f := slam_loss (s_ n).
set g := slam_loss (scores (X n) u); set L := own_loss n; set S := norms_of_z n.
set f_u := perceptron_bound.F _ _ _ _ _ => IH regret.
have -> : w_ n - eta *: zn - u = (w_ n - u) - eta *: zn by rewrite addrAC.
rewrite norm2B norm2Z dotZr; set a := norm2 (w_ n - u) in IH *.
have -> : dot (w_ n - u) zn = - dot zn (u - w_ n).
  by rewrite dotC -(opprB u) -scaleN1r dotZr mulN1r.
move: (dot zn (u - w_ n)) (norm2 zn) regret => d q regret.
rewrite -subr_ge0 in IH; rewrite -subr_ge0 in regret; rewrite -subr_ge0.
have := addr_ge0 IH (mulr_ge0 (mulrn_wge0 2 (ltW eta_gt0)) regret).
congr (0 <= _); ring.
Qed.

(* The regret of gradient descent, equation (15) *)
Theorem slam_equation_15 u n : (n <= T)%N ->
  own_loss n - F u n
    <= norm2 u / (2%:R * eta) + eta / 2%:R * norms_of_z n.
Proof.
move=> n_le; have eta2_gt0 : 0 < 2%:R * eta by rewrite mulr_gt0 ?ltr0n.
have := distance_to_comparator u n_le.
move/(le_trans (ler_paddl (norm2_ge0 _) (lexx _))).
rewrite -mulr_natl mulrA -ler_pdivl_mull // => /le_trans; apply.
rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
by rewrite gt_eqF.
Qed.

(* If the squared norms of all z_t are at most c f_t(w_t), as (16) says with
   c = 4 m R_X^2 v_max, and eta c <= 1: *)
Lemma loss_of_small_steps (c : R) u : eta * c <= 1 ->
  (forall t, (t < T)%N -> loss_at_most_weights (X t)) ->
  (forall t, (t < T)%N -> lossy t ->
     norm2 (z algorithm_1 (s_ t)) <= c * slam_loss (s_ t)) ->
  total_RML algorithm_1 eta X T <= 2%:R * F u T + norm2 u / eta.
Proof.
move=> small loss_le z_le.
have RML_le : total_RML algorithm_1 eta X T <= own_loss T.
  rewrite /total_RML (bigID (fun t : 'I_T => lossy t)) /=.
  rewrite [X in _ + X]big1 ?addr0 => [|t /negPn/eqP //].
  apply: ler_sum => t _; apply: slam_equation_13; first exact: rounds_ok.
  exact: loss_le.
have norms_le : eta * norms_of_z T <= own_loss T.
  rewrite /norms_of_z mulr_sumr; apply: ler_sum => t t_lossy.
  have f_ge0 := slam_loss_ge0 (rounds_ok (ltn_ord t)) (s_ t).
  apply: le_trans (ler_wpmul2l (ltW eta_gt0) (z_le t (ltn_ord t) t_lossy)) _.
  by rewrite mulrA ler_pimull.
apply: le_trans RML_le _.
have := slam_equation_15 u (leqnn T); rewrite -subr_ge0 => regret.
rewrite -subr_ge0; rewrite -subr_ge0 in norms_le.
have := addr_ge0 (mulrn_wge0 2 regret) norms_le.
congr (0 <= _); field.
by rewrite gt_eqF.
Qed.

End GradientDescent.

(* ------------------------------------------------------------------------- *)
(* AP and NDCG *)

Section RankingLosses.

Variables (R : realFieldType) (m : nat) (label : 'I_m -> nat).
Variable pos : 'I_m -> 'I_m.
Hypothesis pos_inj : injective pos.

Lemma AP_loss_ge0 rk : injective rk -> 0 <= AP_loss R label rk.
Proof.
move=> rk_inj; rewrite /AP_loss; case: eqP => // /eqP r_neq0.
have r_gt0 : 0 < #|level label 0|%:R :> R by rewrite ltr0n lt0n.
rewrite subr_ge0 ler_pdivr_mull // mulr1 -sumr_const; apply: ler_sum => i _.
rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat ltnS.
by rewrite (rank_split (level label 0) rk_inj) leq_addr.
Qed.

Variables G D : nat -> R.
Hypothesis G0 : G 0 = 0.
Hypothesis G_increases : forall l, G l <= G l.+1.
Hypothesis D_ge0 : forall c, 0 <= D c.
Hypothesis D_decreases : forall a b, (a <= b)%N -> D b <= D a.
Hypothesis pos_falling : falling label pos.

Lemma NDCG_loss_ge0 rk : injective rk -> 0 <= NDCG_loss label pos G D rk.
Proof.
move=> rk_inj; rewrite /NDCG_loss; case: eqP => // /eqP Z_neq0.
have Z_gt0 : 0 < DCG label G D pos by rewrite lt_def Z_neq0 Z_ge0.
by rewrite subr_ge0 ler_pdivr_mulr // mul1r ideal_DCG.
Qed.

(* At most K of the weights (31) of NDCG@K are not 0. *)
Lemma few_v_cut K : (#|[set i | (0 < v_cut label pos G (cut D K) i)%R]| <= K)%N.
Proof.
have sub : pos @: [set i | 0 < v_cut label pos G (cut D K) i] \subset first m K.
  apply/subsetP => c /imsetP[i]; rewrite inE => v_gt0 ->; rewrite inE.
  by move: v_gt0; rewrite /v_cut /cut; case: ifP => // _; rewrite !mulr0 ltxx.
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
move=> pos_lt m_gt1 i j; rewrite /= /v_MAP.
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

Variables (R : realFieldType) (E : space R).
Variables G D : nat -> R.
Hypothesis G0 : G 0 = 0.
Hypothesis G_increases : forall l, G l <= G l.+1.
Hypothesis D_ge0 : forall c, 0 <= D c.
Hypothesis D_decreases : forall a b, (a <= b)%N -> D b <= D a.

(* A round of section 5, whose ranking loss is 1 - AP, with the weights (6), or
   1 - NDCG, with the weights (9) *)
Inductive paper_round : round E -> Prop :=
| paper_AP m x label k rank (pos : 'I_m -> 'I_m) of
    ranks rank & injective pos & falling label pos
    & best_less (@AP_round R E m x label k rank pos) :
    paper_round (AP_round x label k rank pos)
| paper_NDCG m x label k rank (pos : 'I_m -> 'I_m) low of
    ranks rank & injective pos & falling label pos
    & (forall i, low <= label i)%N
    & best_less (@printed_round R E m x label k rank pos G D low) :
    paper_round (printed_round x label k rank pos G D low).

(* A round of Corollary 7, whose ranking loss is 1 - NDCG@K, with the weights
   (31) *)
Inductive paper_round_at (K : nat) : round E -> Prop :=
| paper_NDCG_at m x label k rank (pos : 'I_m -> 'I_m) of
    ranks rank & injective pos & falling label pos
    & best_less (@cut_round R E m x label k rank pos G (cut D K)) :
    paper_round_at K (cut_round x label k rank pos G (cut D K)).

(* Every list of documents with labels makes such rounds, with some order of
   equal scores. *)
Theorem paper_rounds_exist m (x : 'I_m -> E) (label : 'I_m -> nat) K :
  exists k rank pos,
    [/\ paper_round (AP_round x label k rank pos),
        paper_round (printed_round x label k rank pos G D 0)
      & paper_round_at K (cut_round x label k rank pos G (cut D K))].
Proof.
have [k [best _]] := best_less_exists x label (fun=> 0) (fun=> 0).
have [rank ranked] := ranks_exist R m.
have [pos_inj by_label] := ranked (fun i => (label i)%:R).
have pos_falling : falling label (rank (fun i => (label i)%:R)).
  by move=> i j lt; apply: by_label; rewrite ltr_nat.
by exists k, rank, (rank (fun i => (label i)%:R)); split; constructor.
Qed.

(* What the proof uses of a round *)
Definition bounded (r : round E) K :=
  [/\ well_formed r, loss_at_most_weights r, forall s, 0 <= RML (r := r) s
    & weights_at_most r K].

Lemma paper_round_bounded r : paper_round r -> bounded r (m r).
Proof.
case=> [m x label k rank pos ranked pos_inj pos_falling best
       |m x label k rank pos low ranked pos_inj pos_falling low_le best].
- have pos_lt i : i \in level label 0 -> (pos i < #|level label 0|)%N.
    exact: pos_level_lt.
  split; last exact: weights_at_most_m.
  + exact: AP_well_formed.
  + exact: AP_loss_at_most_weights.
  by move=> s; apply: AP_loss_ge0; case: (ranked s).
split; last exact: weights_at_most_m.
- exact: printed_well_formed.
- exact: printed_loss_at_most_weights.
by move=> s; apply: NDCG_loss_ge0 => //; case: (ranked s).
Qed.

Lemma paper_round_at_bounded K r : paper_round_at K r -> bounded r K.
Proof.
case=> m x label k rank pos ranked pos_inj pos_falling best.
have cut_D_ge0 c := cut_ge0 D_ge0 K c.
have cut_D_decreases a b := @cut_decreases _ _ D_ge0 D_decreases K a b.
split; last exact: few_v_cut.
- exact: cut_well_formed.
- exact: cut_loss_at_most_weights.
by move=> s; apply: NDCG_loss_ge0 => //; case: (ranked s).
Qed.

Variables (X : nat -> round E) (T : nat) (R_X v_max : R) (n : nat).

(* R_X is at least the norm of every document, and v_max at least the quotient
   of any two weights of a round that are not 0. *)
Hypothesis norms :
  forall t, (t < T)%N -> forall i : 'I_(m (X t)), norm2 (x i) <= R_X ^+ 2.
Hypothesis quotients : forall t, (t < T)%N -> quotients_at_most (X t) v_max.

(* The step size is eta = 1/c, with n in place of the paper's m. *)
Let c := 4%:R * n%:R * R_X ^+ 2 * v_max.
Hypothesis c_gt0 : 0 < c.

Lemma loss_of_bounded_rounds u :
  (forall t, (t < T)%N -> exists2 K, bounded (X t) K & (K <= n)%N) ->
  total_RML algorithm_1 c^-1 X T
    <= 2%:R * F algorithm_1 c^-1 X u T
       + 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max.
Proof.
move=> all_bounded.
have -> : 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max = norm2 u / c^-1.
  by rewrite invrK /c; ring.
have rounds_ok : well_formed_rounds X T.
  by move=> t /all_bounded[K []].
apply: (@loss_of_small_steps _ _ c^-1 X T _ _ c) => //.
- by rewrite invr_gt0.
- by rewrite mulVf ?gt_eqF.
- by move=> t /all_bounded[K []].
move=> t t_lt t_lossy; have [K [ok loss_le RML_ge0 few] K_le] := all_bounded t t_lt.
apply: (slam_proposition_4 ok loss_le) => //.
- exact: norms.
- exact: quotients.
- exact: leq_trans few K_le.
by rewrite lt_def RML_ge0 andbT.
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

(* Theorem 5, for lists of at most n documents: equation (17) *)
Theorem slam_theorem_5 u :
  (forall t, (t < T)%N -> paper_round (X t)) ->
  (forall t, (t < T)%N -> m (X t) <= n)%N ->
  total_RML algorithm_1 c^-1 X T
    <= 2%:R * F algorithm_1 c^-1 X u T
       + 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max.
Proof.
move=> rounds short; apply: loss_of_bounded_rounds => t t_lt.
by exists (m (X t)); [apply/paper_round_bounded/rounds | apply: short].
Qed.

(* Equation (18): the loss if u has none *)
Theorem slam_equation_18 u :
  (forall t, (t < T)%N -> paper_round (X t)) ->
  (forall t, (t < T)%N -> m (X t) <= n)%N ->
  F algorithm_1 c^-1 X u T = 0 ->
  total_RML algorithm_1 c^-1 X T
    <= 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max.
Proof.
move=> rounds short no_loss; have := slam_theorem_5 u rounds short.
by rewrite no_loss mulr0 add0r.
Qed.

(* Corollary 6: a unit vector u1 ranks all documents with the margin gamma. *)
Theorem slam_corollary_6 (gamma : R) (u1 : E) :
  (forall t, (t < T)%N -> paper_round (X t)) ->
  (forall t, (t < T)%N -> m (X t) <= n)%N ->
  norm2 u1 = 1 -> 0 < gamma ->
  (forall t, (t < T)%N -> forall i j : 'I_(m (X t)),
     less j i -> gamma <= dot (x i - x j) u1) ->
  total_RML algorithm_1 c^-1 X T
    <= 4%:R * n%:R * R_X ^+ 2 * v_max / gamma ^+ 2.
Proof.
move=> rounds short unit gamma_gt0 apart; rewrite -(bound_of_margin _ unit).
apply: le_trans (slam_theorem_5 (gamma^-1 *: u1) rounds short) _.
rewrite ger_addr pmulr_rle0 ?ltr0n //; apply: no_loss_of_separating => //.
by move=> t /rounds/paper_round_bounded[].
Qed.

(* Corollary 7: for NDCG@n, n takes the place of the number of documents. *)
Theorem slam_corollary_7 u :
  (forall t, (t < T)%N -> paper_round_at n (X t)) ->
  total_RML algorithm_1 c^-1 X T
    <= 2%:R * F algorithm_1 c^-1 X u T
       + 4%:R * norm2 u * n%:R * R_X ^+ 2 * v_max.
Proof.
move=> rounds; apply: loss_of_bounded_rounds => t t_lt.
by exists n => //; apply/paper_round_at_bounded/rounds.
Qed.

End Bounds.
