(* The loss bound of SLAM's perceptron that is free of the length of the lists.

   The page docs/a-bound-free-of-the-list-length.md states and proves two
   theorems. This file states them again and proves them by the same steps,
   which have the same numbers here. The numbers are those of any ordered field
   R, such as the rational or the real numbers. The documents are vectors of any
   space E with an inner product: R^d, of any dimension d, is the space [Rd d],
   and kernels are included, because nothing but inner products occurs.

   Contents
     Spaces                an inner product; Cauchy and Schwarz; R^d
     The surrogate         SLAM, for scores, labels and weights
     Rounds                a list, its labels, weights and ranking loss
     The algorithms        active documents, the update, N, F
     Steps 1 to 4          of the proof on the page
     The two theorems      and what follows from them
     Square roots          the sharper form of the bound

   The file ranking_loss.v proves what is assumed of the ranking loss here, for
   1 - AP and 1 - NDCG. The file wrong_neighbours.v shows that statements close
   to these are false.
*)

From formal Require Import library.

(* ------------------------------------------------------------------------- *)
(* Spaces *)

(* A vector space over R with an inner product <x, y>. That <x, x> = 0 holds
   for x = 0 only is not needed. *)
Record space (R : realFieldType) := Space {
  vector :> lmodType R;
  dot : vector -> vector -> R;
  dotC : forall x y, dot x y = dot y x;
  dotDl : forall x y z, dot (x + y) z = dot x z + dot y z;
  dotZl : forall a x y, dot (a *: x) y = a * dot x y;
  dot_ge0 : forall x, 0 <= dot x x
}.
Arguments dot {R s} : simpl never.

Section InnerProduct.

Variables (R : realFieldType) (E : space R).
Implicit Types (x y z : E) (a : R).

(* ||x||^2 *)
Definition norm2 x : R := dot x x.
Arguments norm2 : simpl never.

Lemma dot0l y : dot 0 y = 0 :> R.
Proof. by rewrite -(scale0r y) dotZl mul0r. Qed.

Lemma dotNl x y : dot (- x) y = - dot x y.
Proof. by rewrite -scaleN1r dotZl mulN1r. Qed.

Lemma dotBl x y z : dot (x - y) z = dot x z - dot y z.
Proof. by rewrite dotDl dotNl. Qed.

Lemma dotDr x y z : dot z (x + y) = dot z x + dot z y.
Proof. by rewrite dotC dotDl (dotC x) (dotC y). Qed.

Lemma dotZr a x y : dot x (a *: y) = a * dot x y.
Proof. by rewrite dotC dotZl (dotC y). Qed.

Lemma dotBr x y z : dot z (x - y) = dot z x - dot z y.
Proof. by rewrite dotC dotBl (dotC x) (dotC y). Qed.

Lemma dot_suml (I : finType) (P : pred I) (f : I -> E) y :
  dot (\sum_(i | P i) f i) y = \sum_(i | P i) dot (f i) y.
Proof.
apply: (big_morph (fun x => dot x y)); [exact: (fun x x' => dotDl x x' y)|].
exact: dot0l.
Qed.

Lemma dot_sumr (I : finType) (P : pred I) (f : I -> E) y :
  dot y (\sum_(i | P i) f i) = \sum_(i | P i) dot y (f i).
Proof. by rewrite dotC dot_suml; apply: eq_bigr => i _; rewrite dotC. Qed.

Lemma norm2_ge0 x : 0 <= norm2 x.
Proof. exact: dot_ge0. Qed.

Lemma norm2Z a x : norm2 (a *: x) = a ^+ 2 * norm2 x.
Proof. by rewrite /norm2 dotZl dotZr mulrA. Qed.

Lemma norm2N x : norm2 (- x) = norm2 x.
Proof. by rewrite /norm2 dotNl dotC dotNl opprK. Qed.

Lemma norm2B x y : norm2 (x - y) = norm2 x - dot x y *+ 2 + norm2 y.
Proof.
rewrite /norm2 dotBl !dotBr (dotC y x) opprB mulr2n opprD !addrA.
by rewrite addrAC.
Qed.

Lemma norm2D x y : norm2 (x + y) = norm2 x + dot x y *+ 2 + norm2 y.
Proof. by rewrite /norm2 dotDl !dotDr (dotC y x) mulr2n !addrA. Qed.

(* 2 <x, y> <= ||x||^2 + ||y||^2 *)
Lemma dot_le_norm2 x y : dot x y *+ 2 <= norm2 x + norm2 y.
Proof.
by rewrite -subr_ge0; have := norm2_ge0 (x - y); rewrite norm2B addrAC.
Qed.

(* The distance of two vectors of norm at most r is at most 2 r. *)
Lemma norm2B_le x y r :
  norm2 x <= r ^+ 2 -> norm2 y <= r ^+ 2 -> norm2 (x - y) <= (2%:R * r) ^+ 2.
Proof.
move=> hx hy; apply: (@le_trans _ _ ((norm2 x + norm2 y) *+ 2)); last first.
  rewrite mulr_natl exprMn_n -[(2 ^ 2)%N]/(2 * 2)%N mulrnA ler_muln2r /=.
  by rewrite mulr2n ler_add.
rewrite -subr_ge0 norm2B [_ - _ + _]addrAC [(_ + _) *+ 2]mulr2n opprB addrA.
rewrite [_ + _ + dot x y *+ 2]addrAC addrK; have := norm2_ge0 (x + y).
by rewrite norm2D addrAC (addrC (norm2 x + _)) addrA.
Qed.

(* Cauchy and Schwarz *)
Lemma CauchySchwarz x y : dot x y ^+ 2 <= norm2 x * norm2 y.
Proof.
case: (eqVneq (norm2 y) 0) => [y0|yN0].
  (* ||x||^2 + 2 a <x, y> >= 0 for every number a only if <x, y> = 0 *)
  rewrite y0 mulr0; case: (eqVneq (dot x y) 0) => [->|xyN0].
    by rewrite expr0n.
  have := norm2_ge0 (x - ((norm2 x + 1) / dot x y) *: y).
  rewrite norm2B norm2Z y0 mulr0 addr0 dotZr divfK // mulr2n opprD addrA.
  rewrite opprD addNKr -!opprD oppr_ge0 leNgt.
  by rewrite addr_gt0 ?ltr01 // ltr_spaddr ?norm2_ge0 ?ltr01.
have y_gt0 : 0 < norm2 y by rewrite lt_def yN0 norm2_ge0.
have := norm2_ge0 (norm2 y *: x - dot x y *: y).
rewrite norm2B !norm2Z dotZl dotZr -/(norm2 y).
have -> : norm2 y ^+ 2 * norm2 x - (norm2 y * (dot x y * dot x y)) *+ 2
    + dot x y ^+ 2 * norm2 y = norm2 y * (norm2 x * norm2 y - dot x y ^+ 2).
  rewrite -expr2 mulr2n opprD addrA (mulrC (dot x y ^+ 2)) subrK mulrBr.
  by rewrite [norm2 y * (_ * _)]mulrCA -expr2 (mulrC (norm2 x)).
by rewrite pmulr_rge0 // subr_ge0.
Qed.

End InnerProduct.
Arguments norm2 {R E} x : simpl never.

(* R^d with <x, y> = x_1 y_1 + ... + x_d y_d *)
Section RowVectors.

Variables (R : realFieldType) (d : nat).

Definition row_dot (x y : 'rV[R]_d) : R := \sum_(c < d) x 0 c * y 0 c.

Lemma row_dotC x y : row_dot x y = row_dot y x.
Proof. by apply: eq_bigr => c _; rewrite mulrC. Qed.

Lemma row_dotDl x y z : row_dot (x + y) z = row_dot x z + row_dot y z.
Proof. by rewrite -big_split; apply: eq_bigr => c _; rewrite mxE mulrDl. Qed.

Lemma row_dotZl a x y : row_dot (a *: x) y = a * row_dot x y.
Proof. by rewrite mulr_sumr; apply: eq_bigr => c _; rewrite mxE mulrA. Qed.

Lemma row_dot_ge0 x : 0 <= row_dot x x.
Proof. by apply: sumr_ge0 => c _; rewrite -expr2 sqr_ge0. Qed.

Definition Rd : space R := Space row_dotC row_dotDl row_dotZl row_dot_ge0.

End RowVectors.

(* ------------------------------------------------------------------------- *)
(* The surrogate *)

Section Surrogate.

Variables (R : realFieldType) (margin : R) (m : nat) (label : 'I_m -> nat).
Implicit Types (s v : 'I_m -> R) (i j : 'I_m).

(* The inner maximum of equation (5) of `slam`, max(0, max over less relevant j
   of 1 + s_j - s_i), which is 0 if no document j is less relevant than i; in
   place of 1 there can be any margin. *)
Definition worst_hinge s i : R :=
  \big[Num.max/0]_(j | (label j < label i)%N) (margin + s j - s i).

(* Equation (5), with any margin *)
Definition SLAM_with v s : R := \sum_i v i * worst_hinge s i.

(* The hinge is at least 0, and at least 1 + s_j - s_i for less relevant j; it is
   the least number of this kind. *)
Lemma worst_hinge_ge0 s i : 0 <= worst_hinge s i.
Proof.
rewrite /worst_hinge; elim: (index_enum _) => [|j js IH].
  by rewrite big_nil.
by rewrite big_cons; case: ifP => // _; rewrite le_maxr IH orbT.
Qed.

Lemma worst_hinge_ge s i j :
  (label j < label i)%N -> margin + s j - s i <= worst_hinge s i.
Proof.
move=> ji; rewrite /worst_hinge; have := mem_index_enum j.
elim: (index_enum _) => // j' js IH; rewrite inE big_cons.
case/predU1P => [<-|/IH le_js]; first by rewrite ji le_maxr lexx.
by case: ifP => // _; rewrite le_maxr le_js orbT.
Qed.

Lemma worst_hinge_le s i a :
  0 <= a -> (forall j, (label j < label i)%N -> margin + s j - s i <= a) ->
  worst_hinge s i <= a.
Proof.
move=> a_ge0 le_a; apply: (big_ind (fun b => b <= a)) => // b c.
by rewrite le_maxl => -> ->.
Qed.

End Surrogate.
Arguments worst_hinge {R} margin {m} label s i.
Arguments SLAM_with {R} margin {m} label v s.

(* Equation (5); the paper fixes the margin 1 for all that follows it. *)
Notation SLAM := (SLAM_with 1).

(* ------------------------------------------------------------------------- *)
(* Rounds *)

Section Perceptron.

Variables (R : realFieldType) (E : space R).

(* What a round brings: m documents x_i, their labels, the weights v_i, the
   choice of k(i), and the ranking loss. The last two depend on the scores;
   whatever rule ranks documents of equal score is a part of them. *)
Record round := Round {
  m : nat;
  x : 'I_m -> E;
  label : 'I_m -> nat;
  v : 'I_m -> R;
  k : ('I_m -> R) -> 'I_m -> 'I_m;
  RML : ('I_m -> R) -> R
}.

Section Round.

Variable r : round.
Implicit Types (s : 'I_(m r) -> R) (i j : 'I_(m r)).

(* The score of document i is the inner product of its vector with w. *)
Definition scores (w : E) : 'I_(m r) -> R := fun i => dot (x i) w.

(* Document j is less relevant than document i. *)
Definition less j i := (label j < label i)%N.

(* Some document is less relevant than document i: then k(i) exists. *)
Definition has_less i := [exists j, less j i].

(* k(i) is a best-scored document among those that are less relevant than i. *)
Definition best_less :=
  forall s i, has_less i ->
    less (k s i) i /\ (forall j, less j i -> s j <= s (k s i)).

(* What is assumed of a round: the weights are at least 0, their sum is at most
   1, and k is as it should be. *)
Definition well_formed :=
  [/\ forall i, 0 <= v i, \sum_(i < m r) v i <= 1 & best_less].

(* Some less relevant document has at least the score of document i. *)
Definition misordered s i := [exists j, less j i && (s i <= s j)].

(* The hinge 1 + s_k(i) - s_i of document i is positive. *)
Definition hinge_positive s i := has_less i && (0 < 1 + s (k s i) - s i).

(* The hinge of a document, and SLAM's loss *)
Definition hinge s i := worst_hinge 1 (label (r := r)) s i.
Definition slam_loss s := SLAM (label (r := r)) (v (r := r)) s.

(* Lemma 1 of docs/weights-of-slam.md says this of 1 - NDCG and of 1 - AP; it is
   proved in ranking_loss.v. *)
Definition loss_at_most_weights :=
  forall s, RML s <= \sum_(i | misordered s i) v i.

(* The ranking loss and k depend on the order of the scores only. *)
Definition order_only :=
  forall s s', (forall i j, (s i <= s j) = (s' i <= s' j)) ->
    RML s = RML s' /\ k s =1 k s'.

End Round.
Arguments scores r w i : clear implicits.

(* Such a k exists for every list: the first one of the best-scored. *)
Theorem best_less_exists m x label v RML : exists k,
  let r := @Round m x label v k RML in
  best_less r
  /\ forall s s' : 'I_m -> R,
       (forall i j, (s i <= s j) = (s' i <= s' j)) -> k s =1 k s'.
Proof.
pose best s i j :=
  (label j < label i)%N
  && [forall j', (label j' < label i)%N ==> ((s j' : R) <= s j)].
exists (fun s i => odflt i [pick j | best s i j]); split=> [s i|s s' same i].
  case/existsP => j0 j0i /=; case: pickP => [j /andP[ji /forallP j_best]|none].
    by split=> // j' j'i; apply: (implyP (j_best j')).
  pose below j := (label j < label i)%N.
  case: (@arg_maxP _ _ _ j0 below s j0i) => j ji j_best; have := none j.
  case/negP; apply/andP; split; first exact: ji.
  by apply/forallP => j'; apply/implyP/j_best.
congr odflt; apply: eq_pick => j; congr (_ && _).
by apply: eq_forallb => j'; rewrite same.
Qed.

(* ------------------------------------------------------------------------- *)
(* The algorithms *)

(* A rule says which documents are active, given their scores. *)
Definition rule := forall r : round, ('I_(m r) -> R) -> 'I_(m r) -> bool.
Definition algorithm_1 : rule := fun r => @hinge_positive r.
Definition algorithm_2 : rule := fun r => @misordered r.

Section Algorithm.

Variables (active : rule) (eta : R) (X : nat -> round).

(* The sum of the weights of active documents, and the direction of the
   update *)
Definition A r (s : 'I_(m r) -> R) : R := \sum_(i | active s i) v i.
Definition z r (s : 'I_(m r) -> R) : E :=
  \sum_(i | active s i) v i *: (x (k s i) - x i).

(* w t is the vector with which round t is ranked; the first round is t = 0. In
   rounds with no ranking loss it stays as it is. *)
Fixpoint w (t : nat) : E :=
  if t is t'.+1 then
    let s := scores (X t') (w t') in
    if RML s != 0 then w t' - eta *: z s else w t'
  else 0.

(* The scores in round t, and whether it has a ranking loss *)
Definition s_ t : 'I_(m (X t)) -> R := scores (X t) (w t).
Arguments s_ : clear implicits.
Definition lossy t := RML (s_ t) != 0.

(* In T rounds: the weights of active documents, SLAM's loss of a comparator u,
   both in rounds with a ranking loss, and the ranking loss *)
Definition N T : R := \sum_(t < T | lossy t) A (s_ t).
Definition F (u : E) T : R := \sum_(t < T | lossy t) slam_loss (scores (X t) u).
Definition total_RML T : R := \sum_(t < T) RML (s_ t).

(* What one more round adds *)
Lemma w_S T : w T.+1 = if lossy T then w T - eta *: z (s_ T) else w T.
Proof. by []. Qed.

Lemma sum_lossy_S (f : nat -> R) T : \sum_(t < T.+1 | lossy t) f t
  = if lossy T then \sum_(t < T | lossy t) f t + f T
    else \sum_(t < T | lossy t) f t.
Proof.
rewrite big_mkcond big_ord_recr -big_mkcond /=.
by case: ifP; rewrite ?addr0.
Qed.

Lemma N_S T : N T.+1 = if lossy T then N T + A (s_ T) else N T.
Proof. exact: (sum_lossy_S (fun t => A (s_ t))). Qed.

Lemma F_S u T :
  F u T.+1 = if lossy T then F u T + slam_loss (scores (X T) u) else F u T.
Proof. exact: (sum_lossy_S (fun t => slam_loss (scores (X t) u))). Qed.

End Algorithm.
Arguments s_ active eta X t i : clear implicits.

(* What is assumed of the first T rounds, with Delta at least the distance of
   any two documents of one list. *)
Definition well_formed_rounds (X : nat -> round) (T : nat) :=
  forall t, (t < T)%N -> well_formed (X t).
Definition distances_at_most (Delta : R) (X : nat -> round) (T : nat) :=
  forall t, (t < T)%N ->
    forall i j : 'I_(m (X t)), norm2 (x i - x j) <= Delta ^+ 2.

(* ------------------------------------------------------------------------- *)
(* Steps 1 to 4 *)

Section Steps.

Variables (r : round) (active : rule).
Hypothesis r_ok : well_formed r.

(* Active documents have a less relevant one, and a hinge that is positive. *)
Hypothesis active_hinge :
  forall (s : 'I_(m r) -> R) i, active s i -> hinge_positive s i.

Implicit Types (s : 'I_(m r) -> R) (i j : 'I_(m r)).

Lemma v_ge0 i : 0 <= v i.
Proof. by case: r_ok. Qed.

Lemma A_ge0 s : 0 <= A active s.
Proof. by apply: sumr_ge0 => i _; apply: v_ge0. Qed.

(* Step 1, A_t <= 1: the sum of all weights is at most 1. *)
Lemma A_le1 s : A active s <= 1.
Proof.
case: r_ok => _ sum_le1 _; apply: le_trans sum_le1.
rewrite /A [X in _ <= X](bigID (active s)) /= ler_addl.
by apply: sumr_ge0 => i _; apply: v_ge0.
Qed.

(* Step 1, RML_t <= A_t, if misordered documents are active. *)
Lemma RML_le_A s :
  loss_at_most_weights r -> (forall i, misordered s i -> active s i) ->
  RML s <= A active s.
Proof.
move=> loss_le mis_active; apply: le_trans (loss_le s) _.
rewrite /A [X in _ <= X](bigID (misordered s)) /=.
rewrite (eq_bigl (misordered s)) => [|i]; last first.
  by apply: andb_idl; apply: mis_active.
by rewrite ler_addl; apply: sumr_ge0 => i _; apply: v_ge0.
Qed.

(* Step 2: ||z_t||^2 <= Delta^2 A_t^2 <= Delta^2 A_t, because z_t is a sum of
   differences of two documents with the weights v_i. *)
Lemma norm2_z_le Delta s :
  (forall i j, norm2 (x i - x j) <= Delta ^+ 2) ->
  norm2 (z active s) <= Delta ^+ 2 * A active s.
Proof.
move=> dist; apply: (@le_trans _ _ (Delta ^+ 2 * (A active s * A active s))).
  have dot_le i j : dot (x (k s i) - x i) (x (k s j) - x j) <= Delta ^+ 2.
    rewrite -(ler_pmuln2r (ltn0Sn 1)); apply: le_trans (dot_le_norm2 _ _) _.
    by rewrite mulr2n ler_add ?dist.
  rewrite /norm2 /z dot_suml mulrA mulr_sumr; apply: ler_sum => i _.
  rewrite dotZl dot_sumr mulrC ler_wpmul2r ?v_ge0 // mulr_sumr.
  by apply: ler_sum => j _; rewrite dotZr mulrC ler_wpmul2r ?v_ge0.
by rewrite ler_wpmul2l ?sqr_ge0 // ler_pimulr ?A_ge0 ?A_le1.
Qed.

Lemma hinge_ge0 s i : 0 <= hinge s i.
Proof. exact: worst_hinge_ge0. Qed.

Lemma hinge_ge s i j : less j i -> 1 + s j - s i <= hinge s i.
Proof. exact: worst_hinge_ge. Qed.

Lemma hinge_le0 s i :
  (forall j, less j i -> 1 + s j - s i <= 0) -> hinge s i <= 0.
Proof. exact: worst_hinge_le. Qed.

(* The hinges of misordered documents are at least 1. *)
Lemma misordered_hinge_ge1 s i : misordered s i -> 1 <= hinge s i.
Proof.
case/existsP=> j /andP[ji s_le]; apply: le_trans (hinge_ge s ji).
by rewrite -addrA ler_addl subr_ge0.
Qed.

Lemma slam_loss_ge_misordered s : (forall i : 'I_(m r), 0 <= v i) ->
  \sum_(i | misordered s i) v i <= slam_loss s.
Proof.
move=> v_ge0; rewrite big_mkcond; apply: ler_sum => i _.
case: ifP => [mis|_]; first by rewrite ler_pemulr // misordered_hinge_ge1.
by rewrite mulr_ge0 ?hinge_ge0.
Qed.

(* Step 3: f_t(u) >= A_t + <z_t, u>. The scores s decide which documents are
   active. *)
Lemma slam_loss_ge s u :
  A active s + dot (z active s) u <= slam_loss (scores r u).
Proof.
case: r_ok => _ _ best.
rewrite /slam_loss [X in _ <= X](bigID (active s)) /=.
rewrite -[X in X <= _]addr0; apply: ler_add; last first.
  by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?v_ge0 ?hinge_ge0.
rewrite /A /z dot_suml -big_split /=; apply: ler_sum => i /active_hinge.
case/andP => /(best s) [ki _] _.
rewrite dotZl -[X in X + _]mulr1 -mulrDr ler_wpmul2l ?v_ge0 //.
by rewrite dotBl addrA hinge_ge.
Qed.

(* Step 4 for Algorithm 1: <z_t, w_t> >= -A_t. *)
Lemma dot_z_ge w' : - A active (scores r w') <= dot (z active (scores r w')) w'.
Proof.
rewrite -subr_ge0 opprK /A /z dot_suml -big_split /=.
apply: sumr_ge0 => i /active_hinge /andP[_ pos].
rewrite dotZl -[X in _ + X]mulr1 -mulrDr mulr_ge0 ?v_ge0 //.
by rewrite dotBl addrC addrA ltW.
Qed.

(* Step 4 for the second algorithm: <z_t, w_t> >= 0. *)
Lemma dot_z_ge0 w' :
  (forall i, active (scores r w') i -> misordered (scores r w') i) ->
  0 <= dot (z active (scores r w')) w'.
Proof.
case: r_ok => _ _ best mis.
rewrite /z dot_suml; apply: sumr_ge0 => i /mis /existsP[j /andP[ji s_le]].
have i_has : has_less i by apply/existsP; exists j.
rewrite dotZl mulr_ge0 ?v_ge0 // dotBl subr_ge0.
by apply: le_trans s_le _; case: (best (scores r w') i i_has) => _; apply.
Qed.

(* A misordered document has a positive hinge. *)
Lemma misordered_hinge s i : misordered s i -> hinge_positive s i.
Proof.
case: r_ok => _ _ best /existsP[j /andP[ji s_le]].
have i_has : has_less i by apply/existsP; exists j.
rewrite /hinge_positive i_has -addrA ltr_paddr ?ltr01 // subr_ge0.
by apply: le_trans s_le _; case: (best s i i_has) => _; apply.
Qed.

End Steps.

(* ------------------------------------------------------------------------- *)
(* The sum over all rounds *)

Section Sum.

Variables (active : rule) (eta : R) (X : nat -> round) (T : nat).
Hypothesis eta_gt0 : 0 < eta.
Hypothesis rounds_ok : well_formed_rounds X T.
Hypothesis active_hinge : forall t, (t < T)%N ->
  forall (s : 'I_(m (X t)) -> R) i, active s i -> hinge_positive s i.

Lemma N_ge0 n : (n <= T)%N -> 0 <= N active eta X n.
Proof.
move=> n_le; apply: sumr_ge0 => t _; apply: A_ge0.
by apply: rounds_ok; apply: leq_trans n_le.
Qed.

Lemma F_ge0 u n : (n <= T)%N -> 0 <= F active eta X u n.
Proof.
move=> n_le; apply: sumr_ge0 => t _; apply: sumr_ge0 => i _.
rewrite mulr_ge0 ?hinge_ge0 //; apply: v_ge0.
by apply: rounds_ok; apply: leq_trans n_le.
Qed.

(* sum_t RML_t <= N, by step 1 *)
Lemma total_RML_le_N :
  (forall t, (t < T)%N ->
     forall (s : 'I_(m (X t)) -> R) i, misordered s i -> active s i) ->
  (forall t, (t < T)%N -> loss_at_most_weights (X t)) ->
  total_RML active eta X T <= N active eta X T.
Proof.
move=> mis_active loss_le; rewrite /total_RML.
rewrite (bigID (fun t : 'I_T => lossy active eta X t)) /=.
rewrite [X in _ + X]big1 ?addr0 => [|t /negPn/eqP //].
apply: ler_sum => t _; apply: RML_le_A; first exact: rounds_ok.
  exact: loss_le.
exact: mis_active.
Qed.

(* Step 3, summed: N - F <= - <sum_t z_t, u> = <w_(T+1), u> / eta. *)
Lemma sum_step_3 u n : (n <= T)%N ->
  eta * (N active eta X n - F active eta X u n) <= dot (w active eta X n) u.
Proof.
elim: n => [|n IH] n_lt; first by rewrite /N /F !big_ord0 subrr mulr0 dot0l.
rewrite N_S F_S w_S; case: ifP => _; last by rewrite IH // ltnW.
rewrite dotBl dotZl opprD addrACA mulrDr ler_add ?IH 1?ltnW //.
rewrite -mulrN ler_pmul2l // ler_subl_addr addrC -ler_subl_addr opprK.
by apply: slam_loss_ge; [exact: rounds_ok | exact: active_hinge].
Qed.

(* Steps 2 and 4, summed: ||w_(T+1)||^2 <= (2 b eta + eta^2 Delta^2) N, if
   <z_t, w_t> >= - b A_t in all rounds. *)
Lemma sum_steps_2_and_4 b Delta n :
  (forall t, (t < T)%N ->
     - b * A active (s_ active eta X t)
       <= dot (z active (s_ active eta X t)) (w active eta X t)) ->
  distances_at_most Delta X T -> (n <= T)%N ->
  norm2 (w active eta X n)
    <= (2%:R * b * eta + eta ^+ 2 * Delta ^+ 2) * N active eta X n.
Proof.
move=> step_4 dist; elim: n => [|n IH] n_lt.
  by rewrite /N big_ord0 mulr0 /norm2 dot0l.
rewrite N_S w_S; case: ifP => _; last by rewrite IH // ltnW.
rewrite norm2B mulrDr -addrA ler_add ?IH 1?ltnW //.
rewrite norm2Z dotZr mulrDl ler_add //; last first.
  rewrite -mulrA ler_wpmul2l ?sqr_ge0 //.
  by apply: norm2_z_le; [exact: rounds_ok | exact: dist].
rewrite -mulNrn -[X in X <= _]mulr_natl -!mulrA ler_pmul2l ?ltr0Sn //.
rewrite mulrCA -mulrN ler_pmul2l // ler_oppl -mulNr dotC; exact: step_4.
Qed.

(* N - F <= sqrt(c N) with c = U^2 c' and c' = 2 b / eta + Delta^2 *)
Lemma N_sub_F b Delta u :
  (forall t, (t < T)%N ->
     - b * A active (s_ active eta X t)
       <= dot (z active (s_ active eta X t)) (w active eta X t)) ->
  distances_at_most Delta X T ->
  N active eta X T <= F active eta X u T \/
  (N active eta X T - F active eta X u T) ^+ 2
    <= norm2 u * (2%:R * b / eta + Delta ^+ 2) * N active eta X T.
Proof.
move=> step_4 dist; set n := N _ _ _ _; set f := F _ _ _ _ _.
case: (leP n f) => [|f_lt]; [by left | right].
have n_sub_f : 0 <= n - f by rewrite subr_ge0 ltW.
have eta2_gt0 : 0 < eta ^+ 2 by rewrite exprn_gt0.
rewrite -(ler_pmul2l eta2_gt0) -exprMn.
have -> : eta ^+ 2 * (norm2 u * (2%:R * b / eta + Delta ^+ 2) * n)
    = (2%:R * b * eta + eta ^+ 2 * Delta ^+ 2) * n * norm2 u.
  rewrite [RHS]mulrC -mulrA mulrCA; congr (_ * _); rewrite mulrA mulrDr.
  congr ((_ + _) * _).
  rewrite expr2 -[eta * eta * _]mulrA [eta * (_ / _)]mulrC.
  by rewrite divfK ?gt_eqF // mulrC.
apply: (@le_trans _ _ (norm2 (w active eta X T) * norm2 u)); last first.
  by rewrite ler_wpmul2r ?norm2_ge0 // sum_steps_2_and_4.
apply: le_trans (CauchySchwarz _ _).
rewrite ler_sqr ?nnegrE ?sum_step_3 // ?mulr_ge0 ?(ltW eta_gt0) //.
by apply: le_trans (sum_step_3 _ _); rewrite // mulr_ge0 // ltW.
Qed.

End Sum.

(* ------------------------------------------------------------------------- *)
(* The two theorems *)

(* N - F <= sqrt(c N) implies N <= 2 F + c. *)
Lemma no_square (n f c : R) : 0 <= n -> 0 <= f -> 0 <= c ->
  n <= f \/ (n - f) ^+ 2 <= c * n -> n <= 2%:R * f + c.
Proof.
move=> n_ge0 f_ge0 c_ge0; case=> [n_le|le_cn].
  by rewrite mulr_natl mulr2n -addrA (le_trans n_le) // ler_addl addr_ge0.
case: (eqVneq n 0) => [->|n_neq0].
  by rewrite addr_ge0 // mulr_ge0 // ler0n.
have n_gt0 : 0 < n by rewrite lt_def n_neq0.
rewrite -(ler_pmul2r n_gt0) mulrDl -ler_subl_addl; apply: le_trans le_cn.
rewrite sqrrB mulr_natl mulrnAl (mulrC f) -expr2.
by rewrite ler_addl sqr_ge0.
Qed.

Variables (eta : R) (X : nat -> round) (T : nat) (Delta : R).
Hypothesis eta_gt0 : 0 < eta.
Hypothesis rounds_ok : well_formed_rounds X T.
Hypothesis dist : distances_at_most Delta X T.

(* Theorem 1, of Algorithm 1 *)
Theorem theorem_1 (u : E) :
  N algorithm_1 eta X T
    <= 2%:R * F algorithm_1 eta X u T + norm2 u * (2%:R / eta + Delta ^+ 2)
  /\ ((forall t, (t < T)%N -> loss_at_most_weights (X t)) ->
      total_RML algorithm_1 eta X T <= N algorithm_1 eta X T).
Proof.
have active_hinge t : (t < T)%N ->
  forall (s : 'I_(m (X t)) -> R) i, algorithm_1 s i -> hinge_positive s i by [].
split; last first.
  apply: total_RML_le_N => // t t_lt s i.
  by move=> /(misordered_hinge (rounds_ok t_lt)).
apply: no_square; first exact: (N_ge0 _ _ rounds_ok (leqnn T)).
- exact: (F_ge0 _ _ rounds_ok u (leqnn T)).
- rewrite mulr_ge0 ?norm2_ge0 // addr_ge0 ?sqr_ge0 // divr_ge0 ?ler0n //.
  exact: ltW.
- have := N_sub_F eta_gt0 rounds_ok active_hinge (b := 1) u _ dist.
  rewrite mulr1; apply=> t t_lt; rewrite mulN1r.
  by apply: dot_z_ge; [exact: rounds_ok | exact: active_hinge].
Qed.

(* N - F <= sqrt(c N) for the second algorithm *)
Lemma misordered_N_sub_F (u : E) :
  let n := N algorithm_2 eta X T in let f := F algorithm_2 eta X u T in
  [/\ 0 <= n, 0 <= f
    & n <= f \/ (n - f) ^+ 2 <= norm2 u * Delta ^+ 2 * n].
Proof.
have active_hinge t : (t < T)%N ->
    forall (s : 'I_(m (X t)) -> R) i, algorithm_2 s i -> hinge_positive s i.
  by move=> /rounds_ok r_ok s i /(misordered_hinge r_ok).
split; first exact: (N_ge0 _ _ rounds_ok (leqnn T)).
  exact: (F_ge0 _ _ rounds_ok u (leqnn T)).
have := N_sub_F eta_gt0 rounds_ok active_hinge (b := 0) u _ dist.
rewrite mulr0 mul0r add0r; apply=> t t_lt; rewrite oppr0 mul0r.
by apply: dot_z_ge0 => //; apply: rounds_ok.
Qed.

(* Theorem 2, of the second algorithm *)
Theorem theorem_2 (u : E) :
  N algorithm_2 eta X T
    <= 2%:R * F algorithm_2 eta X u T + norm2 u * Delta ^+ 2
  /\ ((forall t, (t < T)%N -> loss_at_most_weights (X t)) ->
      total_RML algorithm_2 eta X T <= N algorithm_2 eta X T).
Proof.
split; last exact: total_RML_le_N.
have [n_ge0 f_ge0 n_f] := misordered_N_sub_F u.
by apply: no_square => //; rewrite mulr_ge0 ?norm2_ge0 ?sqr_ge0.
Qed.

(* ------------------------------------------------------------------------- *)
(* What follows from Theorem 2, and from its proof *)

(* Delta = 2 R_X will do, if R_X is at least the norm of every document. *)
Lemma distances_of_norms (R_X : R) :
  (forall t, (t < T)%N -> forall i : 'I_(m (X t)), norm2 (x i) <= R_X ^+ 2) ->
  distances_at_most (2%:R * R_X) X T.
Proof. by move=> norms t t_lt i j; apply: norm2B_le; apply: norms. Qed.

Lemma sum_le0 (I : finType) (P : pred I) (f : I -> R) :
  (forall i, f i <= 0) -> \sum_(i | P i) f i <= 0.
Proof.
by move=> le0; rewrite -oppr_ge0 -sumrN sumr_ge0 // => i _; rewrite oppr_ge0.
Qed.

(* If a unit vector separates all pairs of different labels by gamma, the
   ranking loss is at most Delta^2 / gamma^2 in all. *)
Theorem separable (gamma : R) (u1 : E) :
  norm2 u1 = 1 -> 0 < gamma ->
  (forall t, (t < T)%N -> forall i j : 'I_(m (X t)),
     less j i -> gamma <= dot (x i - x j) u1) ->
  (forall t, (t < T)%N -> loss_at_most_weights (X t)) ->
  total_RML algorithm_2 eta X T <= Delta ^+ 2 / gamma ^+ 2.
Proof.
move=> u1_unit gamma_gt0 apart loss_le.
have [N_le RML_le] := theorem_2 (gamma^-1 *: u1).
apply: le_trans (RML_le loss_le) (le_trans N_le _).
rewrite norm2Z u1_unit mulr1 exprVn [_^-1 * _]mulrC -ler_subr_addr subrr.
rewrite pmulr_rle0 ?ltr0Sn //; apply: sum_le0 => t.
apply: sum_le0 => i; rewrite mulr_ge0_le0 //.
  by apply: v_ge0; apply: rounds_ok.
apply: hinge_le0 => j ji; rewrite /scores !dotZr -addrA -mulrBr.
rewrite -(divff (lt0r_neq0 gamma_gt0)) mulrC -mulrDr pmulr_rle0 ?invr_gt0 //.
by rewrite -opprB -dotBl subr_le0 apart.
Qed.

(* The predictions of the second algorithm do not depend on eta: w_t is eta
   times what it is for eta = 1, and the scores are in the same order. *)
Lemma order_scaled r (w' : E) (i j : 'I_(m r)) :
  (scores r (eta *: w') i <= scores r (eta *: w') j)
    = (scores r w' i <= scores r w' j).
Proof. by rewrite /scores !dotZr ler_pmul2l. Qed.

Theorem eta_free :
  (forall t, (t < T)%N -> order_only (X t)) ->
  forall t, (t <= T)%N -> w algorithm_2 eta X t = eta *: w algorithm_2 1 X t.
Proof.
move=> order; elim=> [|t IH] t_lt; first by rewrite scaler0.
rewrite !w_S /lossy /s_ IH 1?ltnW //; set w1 := w _ _ _ _.
have [-> k_eq] := order t t_lt _ _ (@order_scaled (X t) w1).
case: ifP => _; rewrite // scalerBr scale1r; congr (_ - eta *: _).
rewrite /z (eq_bigl (algorithm_2 (scores (X t) w1))) => [|i].
  by apply: eq_bigr => i _; rewrite k_eq.
by apply: eq_existsb => j; rewrite order_scaled.
Qed.

Theorem eta_free_predictions :
  (forall t, (t < T)%N -> order_only (X t)) ->
  forall t, (t < T)%N ->
    (forall i j, (s_ algorithm_2 eta X t i <= s_ algorithm_2 eta X t j)
       = (s_ algorithm_2 1 X t i <= s_ algorithm_2 1 X t j))
    /\ RML (s_ algorithm_2 eta X t) = RML (s_ algorithm_2 1 X t).
Proof.
move=> order t t_lt; rewrite /s_ (eta_free order (ltnW t_lt)).
split=> [i j|]; first exact: order_scaled.
by have [] := order t t_lt _ _ (@order_scaled (X t) (w algorithm_2 1 X t)).
Qed.

End Perceptron.
Arguments scores {R E} r w i.
Arguments s_ {R E} active eta X t i.
Arguments algorithm_1 {R E} r s i.
Arguments algorithm_2 {R E} r s i.

(* ------------------------------------------------------------------------- *)
(* Square roots *)

Section SquareRoots.

Variable R : rcfType.

(* N - F <= sqrt(c N) implies sqrt(N) <= sqrt(c)/2 + sqrt(c/4 + F). Here p and
   q are the two roots on the right. *)
Lemma with_square_roots (n f c : R) : 0 <= f -> 0 <= c ->
  n <= f \/ (n - f) ^+ 2 <= c * n ->
  n <= (Num.sqrt c / 2%:R + Num.sqrt (c / 4%:R + f)) ^+ 2 <= 2%:R * f + c.
Proof.
move=> f_ge0 c_ge0 n_f.
set p : R := Num.sqrt c / 2%:R; set q : R := Num.sqrt (c / 4%:R + f).
have p_ge0 : 0 <= p by rewrite divr_ge0 ?sqrtr_ge0 ?ler0n.
have q_ge0 : 0 <= q by rewrite sqrtr_ge0.
have p2 : p ^+ 2 = c / 4%:R by rewrite exprMn sqr_sqrtr // exprVn -natrX.
have f_pq : f = q ^+ 2 - p ^+ 2.
  by rewrite p2 sqr_sqrtr ?addr_ge0 ?divr_ge0 ?ler0n // addrC addKr.
have c_p : c = p ^+ 2 *+ 2 *+ 2.
  by rewrite p2 -mulrnA -mulr_natr divfK // pnatr_eq0.
clearbody p q.
have pq_ge0 : 0 <= (p * q) *+ 2 by rewrite mulrn_wge0 ?mulr_ge0.
have pq_le : (p * q) *+ 2 <= p ^+ 2 + q ^+ 2.
  by rewrite -subr_ge0 addrAC -sqrrB sqr_ge0.
apply/andP; split; last first.
  rewrite c_p f_pq mulr_natl -mulrnDl [p ^+ 2 *+ 2]mulr2n addrA subrK addrC.
  rewrite sqrrD [X in _ <= X]mulr2n addrAC ler_add2l mulrC.
  by rewrite [X in _ <= X]addrC.
have f_le : f <= (p + q) ^+ 2.
  rewrite f_pq sqrrD ler_subl_addr [X in _ <= X]addrAC ler_addr.
  by apply: addr_ge0; [apply: addr_ge0|]; rewrite ?sqr_ge0.
case: n_f => [n_le|le_cn]; first exact: le_trans n_le f_le.
pose g := n - f; pose P := p ^+ 2 *+ 2.
have Pf : P + f = p ^+ 2 + q ^+ 2.
  by rewrite f_pq /P mulr2n -addrA [p ^+ 2 + (_ - _)]addrC subrK.
suff : g - P <= (p * q) *+ 2.
  rewrite /g !ler_subl_addr => /le_trans; apply.
  by rewrite -addrA Pf addrC sqrrD addrAC.
rewrite leNgt; apply/negP => lt_g.
have : ((p * q) *+ 2) ^+ 2 < (g - P) ^+ 2.
  by rewrite ltr_sqr ?nnegrE // (le_trans pq_ge0) // ltW.
rewrite ltNge => /negP; apply.
have -> : ((p * q) *+ 2) ^+ 2 = P * (f *+ 2 + P).
  by rewrite f_pq /P -mulrnDl subrK mulrnAl mulrnAr -mulrnA exprMn_n exprMn.
have n_g : n = g + f by rewrite subrK.
move: le_cn; rewrite -/g c_p -/P n_g; clearbody P g => le_cn.
rewrite sqrrB mulrDr -expr2 ler_add2r ler_subl_addr; apply: le_trans le_cn _.
by rewrite mulrnAl mulrnAr -mulrnDl mulrDr addrC (mulrC g).
Qed.

Variables (E : space R) (eta : R) (X : nat -> round E) (T : nat) (Delta : R).
Hypotheses (eta_gt0 : 0 < eta) (Delta_ge0 : 0 <= Delta).
Hypothesis rounds_ok : well_formed_rounds X T.
Hypothesis dist : distances_at_most Delta X T.

(* Theorem 2 with its sharper bound, for U = ||u|| *)
Theorem theorem_2_sharp (u : E) :
  let U := Num.sqrt (norm2 u) in
  let F := F algorithm_2 eta X u T in
  N algorithm_2 eta X T
    <= (U * Delta / 2%:R + Num.sqrt (U ^+ 2 * Delta ^+ 2 / 4%:R + F)) ^+ 2
    <= 2%:R * F + U ^+ 2 * Delta ^+ 2.
Proof.
set U := Num.sqrt (norm2 u) => /=.
have U2 : U ^+ 2 = norm2 u by rewrite sqr_sqrtr // norm2_ge0.
have c_ge0 : 0 <= norm2 u * Delta ^+ 2 by rewrite mulr_ge0 ?norm2_ge0 ?sqr_ge0.
have [n_ge0 f_ge0 n_f] := misordered_N_sub_F eta_gt0 rounds_ok dist u.
have := with_square_roots f_ge0 c_ge0 n_f.
by rewrite sqrtrM ?norm2_ge0 // sqrtr_sqr ger0_norm // U2.
Qed.

End SquareRoots.
