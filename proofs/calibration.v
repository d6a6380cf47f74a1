(* Theorem 5.1 of `topk`: which surrogates are calibrated for NDCG.

   Labels are the numbers 0 to n, the gain is any increasing function that is 0 for
   the label 0, and the discount any decreasing one that is at least 0. There are
   finitely many vectors of labels, so that all their laws are finite.

   Contents
     Labels                NDCG, the gain divided by the largest DCG, and its mean
     Orders                a ranking that is sorted by that mean has the largest
                           expected NDCG
     Theorem 5.1           "if"; its example, the squared loss against G/Z
     A false neighbour     "only if", with one map g for all laws
*)

From formal Require Import library perceptron_bound ranking_loss finite_laws.
From mathcomp Require Import perm.

(* ------------------------------------------------------------------------- *)
(* Labels *)

Section Calibration.

Variables (R : realFieldType) (m n : nat) (G : gain R) (D : discount R).

(* The label of each document *)
Definition labels := {ffun 'I_m -> 'I_n.+1}.

Implicit Types (y : labels) (rk : 'S_m) (s : 'I_m -> R).
Implicit Types (p : finite_law R [finType of labels]).

(* A ranking gives each document its rank, from 0. *)
Definition DCG_of rk y : R := \sum_i G (y i) * D (rk i).

(* Z(y), the largest DCG *)
Definition largest_DCG y : R := \big[Num.max/0]_(rk : 'S_m) DCG_of rk y.
Definition NDCG_of rk y : R := DCG_of rk y / largest_DCG y.

(* G(y) / Z(y), which is 0 where Z(y) is 0 *)
Definition share y : 'I_m -> R := fun i => G (y i) / largest_DCG y.

(* The expectation over the labels, and that of G(y) / Z(y) *)
Definition average p (f : labels -> R) : R := \sum_y p y * f y.
Definition mean_share p : 'I_m -> R := fun i => average p (fun y => share y i).

Lemma G_of_label_ge0 l : 0 <= G l.
Proof.
elim: l => [|l IH]; first by rewrite G0.
exact: le_trans IH (G_increases _ _).
Qed.

Lemma DCG_of_ge0 rk y : 0 <= DCG_of rk y.
Proof. by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?G_of_label_ge0 ?D_ge0. Qed.

Lemma DCG_of_le rk y : DCG_of rk y <= largest_DCG y.
Proof.
rewrite /largest_DCG; have := mem_index_enum rk.
elim: (index_enum _) => // a r IH; rewrite inE big_cons le_maxr.
by case/predU1P => [<-|/IH ->]; rewrite ?lexx ?orbT.
Qed.

Lemma largest_DCG_le y (c : R) :
  0 <= c -> (forall rk, DCG_of rk y <= c) -> largest_DCG y <= c.
Proof.
move=> c_ge0 le_c; rewrite /largest_DCG; elim: (index_enum _) => [|a r IH].
  by rewrite big_nil.
by rewrite big_cons le_maxl le_c.
Qed.

Lemma averageD p f g : average p (fun y => f y + g y) = average p f + average p g.
Proof. by rewrite /average -big_split; apply: eq_bigr => y _; rewrite mulrDr. Qed.

Lemma averageZ p a f : average p (fun y => a * f y) = a * average p f.
Proof. by rewrite /average mulr_sumr; apply: eq_bigr => y _; rewrite mulrCA. Qed.

Lemma average_const p a : average p (fun=> a) = a.
Proof. by rewrite /average -mulr_suml weight_sum mul1r. Qed.

Lemma average_sum p (I : finType) (f : I -> labels -> R) :
  average p (fun y => \sum_i f i y) = \sum_i average p (f i).
Proof.
by rewrite /average exchange_big; apply: eq_bigr => y _; rewrite mulr_sumr.
Qed.

(* Expected NDCG is a sum over documents of the mean of G/Z. *)
Lemma expected_NDCG p rk : average p (NDCG_of rk) = \sum_i mean_share p i * D (rk i).
Proof.
rewrite /mean_share /average; under [RHS]eq_bigr do rewrite mulr_suml.
rewrite exchange_big; apply: eq_bigr => y _ /=.
rewrite /NDCG_of /DCG_of mulr_suml mulr_sumr; apply: eq_bigr => i _.
by rewrite /share -!mulrA [_^-1 * _]mulrC.
Qed.

(* ------------------------------------------------------------------------- *)
(* Orders *)

(* rk is one of the rankings argsort(s). *)
Definition sorted_by s rk := forall i j, s j < s i -> (rk i < rk j)%N.

(* Of all orders, one that is sorted by a has the largest sum of a times D. *)
Lemma sorted_sum_is_largest (a : 'I_m -> R) rk rk' : sorted_by a rk ->
  \sum_i a i * D (rk' i) <= \sum_i a i * D (rk i).
Proof.
move=> rk_sorts; pose M := \sum_i `|a i|.
have aM_ge0 i : 0 <= a i + M.
  rewrite /M (bigD1 i) //= addrA ler_paddr ?sumr_ge0 //.
  by rewrite -ler_subl_addl sub0r; apply: le_trans (ler_norm _) _; rewrite normrN.
pose label i := #|[set j | a j < a i]|.+1.
have label_lt i j : (label j < label i)%N -> a j < a i.
  apply: contraTT; rewrite -leNgt -leqNgt /label ltnS => a_le.
  by apply/subset_leq_card/subsetP => k; rewrite !inE => /lt_le_trans ->.
pose g l : R := \big[Num.max/0]_(i | (label i <= l)%N) (a i + M).
have g0 : g 0%N = 0 by rewrite /g big_pred0.
have g_le l c : 0 <= c -> (forall i, (label i <= l)%N -> a i + M <= c) -> g l <= c.
  move=> c_ge0 le_c; rewrite /g; elim: (index_enum _) => [|i r IH].
    by rewrite big_nil.
  by rewrite big_cons; case: ifP => // i_l; rewrite le_maxl le_c.
have le_g l i : (label i <= l)%N -> a i + M <= g l.
  move=> i_l; rewrite /g; have := mem_index_enum i.
  elim: (index_enum _) => // j r IH; rewrite inE big_cons.
  case/predU1P => [<-|/IH le_r]; first by rewrite i_l le_maxr lexx.
  by case: ifP => // _; rewrite le_maxr le_r orbT.
have g_ge0 l : 0 <= g l.
  by rewrite /g; elim: (index_enum _) => [|i r IH]; rewrite ?big_nil // big_cons;
    case: ifP => // _; rewrite le_maxr IH orbT.
have g_increases l : g l <= g l.+1.
  by apply: g_le => // i i_l; apply: le_g; apply: leqW.
pose G' := Gain g0 g_increases.
have g_label i : g (label i) = a i + M.
  apply/eqP; rewrite eq_le le_g // andbT; apply: g_le => // j.
  rewrite leqNgt => /negP label_j; rewrite ler_add2r leNgt; apply/negP => a_lt.
  apply: label_j; rewrite /label ltnS proper_card //; apply/properP; split.
    by apply/subsetP => k; rewrite !inE => /lt_trans/(_ a_lt).
  by exists i; rewrite !inE ?a_lt ?ltxx.
have falls : falling label rk by move=> i j /label_lt; apply: rk_sorts.
have best := @ideal_DCG R m label rk (@perm_inj _ rk) G' D falls rk' (@perm_inj _ rk').
have DCG_split (r : 'S_m) : DCG label G' D r
    = \sum_i a i * D (r i) + M * \sum_(i < m) D i.
  rewrite mulr_sumr [X in _ + X](reindex_inj (@perm_inj _ r)) -big_split /DCG /=.
  by apply: eq_bigr => i _; rewrite g_label mulrDl.
by move: best; rewrite !DCG_split ler_add2r.
Qed.

Definition has_largest_NDCG p rk :=
  forall rk', average p (NDCG_of rk') <= average p (NDCG_of rk).

Lemma sorted_by_mean_share p rk : sorted_by (mean_share p) rk -> has_largest_NDCG p rk.
Proof. by move=> rk_sorts rk'; rewrite !expected_NDCG sorted_sum_is_largest. Qed.

(* ------------------------------------------------------------------------- *)
(* Theorem 5.1 *)

Variable phi : ('I_m -> R) -> labels -> R.

Definition conditional_risk p s : R := average p (phi s).

Definition unique_minimiser p s :=
  (forall s', conditional_risk p s <= conditional_risk p s')
  /\ forall s', conditional_risk p s' <= conditional_risk p s -> s' =1 s.

(* Every ranking that is sorted by a minimiser of the expected surrogate has the
   largest expected NDCG. *)
Definition calibrated := forall p s rk,
  (forall s', conditional_risk p s <= conditional_risk p s') ->
  sorted_by s rk -> has_largest_NDCG p rk.

Definition order_preserving (g : ('I_m -> R) -> 'I_m -> R) :=
  forall a i j, a j < a i -> g a j < g a i.

(* Equation (8), where the map g may depend on the law *)
Definition equation_8 :=
  forall p, exists2 g, order_preserving g & unique_minimiser p (g (mean_share p)).

(* "If" *)
Theorem topk_theorem_5_1_if : equation_8 -> calibrated.
Proof.
move=> maps p s rk s_least rk_sorts; have [g g_order [_ unique]] := maps p.
apply: sorted_by_mean_share => i j lt_ij; apply: rk_sorts.
have s_g := unique s (s_least _).
by rewrite !s_g; apply: g_order.
Qed.

End Calibration.

(* ------------------------------------------------------------------------- *)
(* Binary labels *)

(* The documents of A have the label 1, and the others 0. *)
Section Relevant.

Variables (R : realFieldType) (m n : nat) (G : gain R) (D : discount R).
Implicit Types (A : {set 'I_m}) (rk : 'S_m).

Definition relevant A : labels m n.+1 := [ffun i => if i \in A then inord 1 else ord0].

Lemma relevantE A i : relevant A i = (i \in A) :> nat.
Proof. by rewrite ffunE; case: (i \in A) => //; rewrite inordK. Qed.

Lemma gain_relevant A i : G (relevant A i) = G 1%N * (i \in A)%:R.
Proof. by rewrite relevantE; case: (i \in A); rewrite ?G0 ?mulr1 ?mulr0. Qed.

Lemma DCG_relevant A rk : DCG_of G D rk (relevant A) = G 1%N * \sum_(i in A) D (rk i).
Proof.
rewrite /DCG_of mulr_sumr [RHS]big_mkcond; apply: eq_bigr => i _.
by rewrite gain_relevant; case: (i \in A); rewrite ?mulr1 ?mulr0 ?mul0r.
Qed.

(* Their largest DCG has them at the first ranks. *)
Lemma largest_DCG_relevant A :
  largest_DCG G D (relevant A) = G 1%N * \sum_(c < #|A|) D c.
Proof.
have A_le : (#|A| <= m)%N by rewrite -[X in (_ <= X)%N]card_ord max_card.
have G1_ge0 : 0 <= G 1%N := G_of_label_ge0 G 1.
have -> : \sum_(c < #|A|) D c = \sum_(c in first m #|A|) D c.
  by rewrite (big_ord_widen m D A_le); apply: eq_bigl => c; rewrite inE.
apply/eqP; rewrite eq_le; apply/andP; split.
  apply: largest_DCG_le => [|rk].
    by rewrite mulr_ge0 // sumr_ge0 // => c _; apply: D_ge0.
  rewrite DCG_relevant ler_wpmul2l // -(sum_places A (@perm_inj _ rk) D).
  apply: ler_sum => i _; apply: D_decreases.
  by rewrite [X in (_ <= X)%N](rank_split A (@perm_inj _ rk)) leq_addr.
have [rank ranked] := ranks_exist R m.
have [rk_inj rk_sorts] := ranked (fun i => (i \in A)%:R).
apply: le_trans (DCG_of_le G D (perm rk_inj) (relevant A)).
rewrite DCG_relevant ler_wpmul2l // -(sum_places A rk_inj D) le_eqVlt.
apply/orP; left; apply/eqP; apply: eq_bigr => i iA; congr (D _).
rewrite permE [RHS](rank_split A rk_inj).
suff -> : others (rank (fun i => (i \in A)%:R)) A i = 0%N by rewrite addn0.
apply/eqP; rewrite cards_eq0; apply/eqP/setP => j; rewrite !inE.
apply/negP => /andP[/negPf jA]; apply/negP; rewrite -leqNgt ltnW //.
by apply: rk_sorts; rewrite iA jA ltr0n.
Qed.

Lemma share_relevant A i : G 1%N != 0 ->
  share G D (relevant A) i = (i \in A)%:R / \sum_(c < #|A|) D c.
Proof.
move=> G1; rewrite /share gain_relevant largest_DCG_relevant invfM mulrACA.
by rewrite mulfV // mul1r.
Qed.

Lemma average_image (I : finType) (p : finite_law R I) (h : I -> labels m n.+1) f :
  average (image_law p h) f = \sum_i p i * f (h i).
Proof. exact: sum_image. Qed.

End Relevant.

(* ------------------------------------------------------------------------- *)
(* The example of Theorem 5.1: the squared loss against G(y) / Z(y) *)
Section Example.

Variables (R : realFieldType) (m n : nat) (G : gain R) (D : discount R).
Implicit Types (p : finite_law R [finType of labels m n]) (s : 'I_m -> R).


(* The squared distance from a vector r(y) *)
Definition squared_loss (r : labels m n -> 'I_m -> R) s (y : labels m n) : R :=
  \sum_i (s i - r y i) ^+ 2.

(* The expected loss of the scores s exceeds that of E[r] by their distance. *)
Lemma squared_loss_excess (r : labels m n -> 'I_m -> R) p s :
  conditional_risk (squared_loss r) p s
    = conditional_risk (squared_loss r) p (fun i => average p (r^~ i))
      + \sum_i (s i - average p (r^~ i)) ^+ 2.
Proof.
rewrite /conditional_risk /squared_loss !average_sum -big_split.
apply: eq_bigr => i _ /=.
have expand a : average p (fun y => (a - r y i) ^+ 2)
    = a ^+ 2 - 2%:R * a * average p (r^~ i) + average p (fun y => r y i ^+ 2).
  rewrite -[a ^+ 2 in RHS](average_const p) -mulNr -averageZ -!averageD.
  by apply: eq_bigr => y _; congr (_ * _); ring.
by rewrite !expand; move: (average _ _) (average _ _) => b c; ring.
Qed.

Lemma squared_loss_minimiser (r : labels m n -> 'I_m -> R) p :
  unique_minimiser (squared_loss r) p (fun i => average p (r^~ i)).
Proof.
split=> s.
  rewrite [X in _ <= X]squared_loss_excess ler_addl sumr_ge0 // => i _.
  exact: sqr_ge0.
rewrite [X in X <= _ -> _]squared_loss_excess ger_addl => le0 i.
apply/eqP; rewrite -subr_eq0 -sqrf_eq0.
rewrite eq_le sqr_ge0 andbT; apply: le_trans le0.
by rewrite (bigD1 i) //= ler_addl sumr_ge0 // => j _; rewrite sqr_ge0.
Qed.

(* The loss ||s - G(y)/Z(y)||^2: its only minimiser under any law is E[G/Z], so that
   it sorts as E[G/Z] does, and the ranking has the largest expected NDCG. *)
Theorem topk_theorem_5_1_example :
  let phi := squared_loss (share G D) in
  [/\ forall p, unique_minimiser phi p (mean_share G D p),
      forall p rk, sorted_by (mean_share G D p) rk -> has_largest_NDCG G D p rk
    & equation_8 G D phi /\ calibrated G D phi].
Proof.
move=> phi; have unique p := squared_loss_minimiser (share G D) p.
have phi_8 : equation_8 G D phi.
  by move=> p; exists id; [move=> a i j | exact: unique].
split=> // [p rk|]; first exact: sorted_by_mean_share.
by split=> //; apply: topk_theorem_5_1_if.
Qed.

End Example.

(* ------------------------------------------------------------------------- *)
(* A false neighbour *)

(* Two documents with binary labels, and the squared loss against G/Z, which is
   doubled where both are relevant: it is calibrated, but its minimiser is no
   function of E[G/Z]. *)
Section OneMap.

Variables (R : realFieldType) (G : gain R) (D : discount R).
Hypotheses (G1_gt0 : 0 < G 1%N) (D0_gt0 : 0 < D 0%N).

Definition doubled (y : labels 2 1) (i : 'I_2) : R :=
  (if (0 < y ord0)%N && (0 < y ord_max)%N then 2%:R else 1) * share G D y i.

Let loss := squared_loss doubled.
Let target (p : finite_law R [finType of labels 2 1]) i := average p (doubled^~ i).

Lemma two_cases (i : 'I_2) : {i = ord0} + {i = ord_max}.
Proof. by case: i => [[|[|]]] // i_lt; [left | right]; apply/val_inj. Qed.

(* The difference of two documents is that of G/Z. *)
Lemma doubled_difference y i j :
  doubled y i - doubled y j = share G D y i - share G D y j.
Proof.
rewrite /doubled -mulrBr; case: ifP => [/andP[y0 y1]|_]; last by rewrite mul1r.
suff -> : share G D y i = share G D y j by rewrite subrr mulr0.
have label1 k : y k = 1%N :> nat.
  by case: (two_cases k) => ->; apply/eqP; rewrite eqn_leq ?y0 ?y1 andbT -ltnS ltn_ord.
by rewrite /share !label1.
Qed.

Lemma target_difference p i j :
  target p i - target p j = mean_share G D p i - mean_share G D p j.
Proof.
rewrite /target /mean_share /average -!sumrB; apply: eq_bigr => y _.
by rewrite -(mulrBr (p y)) doubled_difference mulrBr.
Qed.

(* Both documents with probability 1/2, or none *)
Definition both_or_none : finite_law R [finType of labels 2 1] :=
  image_law (coin R) (fun both => relevant 0 (if both then setT else set0)).

(* One of the two, each with the probability a, or none *)
Let a := D 0%N / (2%:R * (D 0%N + D 1%N)).

Lemma a_ge0 : 0 <= a.
Proof.
by apply: divr_ge0; rewrite ?mulr_ge0 ?ler0n ?addr_ge0 ?D_ge0.
Qed.

Lemma sum_gt0 : 0 < D 0%N + D 1%N.
Proof. by rewrite ltr_spaddl ?D_ge0. Qed.

Lemma a_le : 0 <= 1 - 2%:R * a.
Proof.
rewrite subr_ge0 /a mulrA -mulf_div divff ?pnatr_eq0 // mul1r.
by rewrite ler_pdivr_mulr ?sum_gt0 // mul1r ler_addl D_ge0.
Qed.

Definition weight_of_one (which : option bool) : R :=
  if which is Some _ then a else 1 - 2%:R * a.

Lemma weight_of_one_ge0 which : 0 <= weight_of_one which.
Proof. by case: which => [_|] /=; rewrite ?a_ge0 ?a_le. Qed.

Lemma sum_option_bool (f : option bool -> R) :
  \sum_w f w = f None + (f (Some true) + f (Some false)).
Proof.
rewrite (bigD1 None) //= (bigD1 (Some true)) //= (bigD1 (Some false)) //=.
rewrite big_pred0 ?addr0 //.
by case=> [[]|].
Qed.

Lemma weight_of_one_sum : \sum_w weight_of_one w = 1.
Proof. by rewrite sum_option_bool /=; ring. Qed.

Definition one_or_none : finite_law R [finType of labels 2 1] :=
  image_law (FiniteLaw weight_of_one_ge0 weight_of_one_sum)
    (fun which => relevant 0
      (if which is Some b then [set if b then ord_max else ord0] else set0)).

Lemma share_of (A : {set 'I_2}) i :
  share G D (relevant 0 A) i = (i \in A)%:R / \sum_(c < #|A|) D c.
Proof. by apply: share_relevant; rewrite gt_eqF. Qed.

Lemma share_both i : share G D (relevant 0 [set: 'I_2]) i = (D 0%N + D 1%N)^-1.
Proof. by rewrite share_of inE cardsT card_ord !big_ord_recl big_ord0 addr0 mul1r. Qed.

Lemma share_none i : share G D (relevant 0 (set0 : {set 'I_2})) i = 0.
Proof. by rewrite share_of inE mul0r. Qed.

Lemma share_one (j i : 'I_2) : share G D (relevant 0 [set j]) i = (i == j)%:R / D 0%N.
Proof. by rewrite share_of inE cards1 big_ord1. Qed.

Lemma doubled_none i : doubled (relevant 0 (set0 : {set 'I_2})) i = 0.
Proof. by rewrite /doubled share_none mulr0. Qed.

Lemma doubled_both i : doubled (relevant 0 [set: 'I_2]) i = 2%:R / (D 0%N + D 1%N).
Proof. by rewrite /doubled share_both !relevantE !inE. Qed.

Lemma doubled_one (j i : 'I_2) : doubled (relevant 0 [set j]) i = (i == j)%:R / D 0%N.
Proof.
rewrite /doubled share_one !relevantE !inE.
by case: (two_cases j) => ->; rewrite mul1r.
Qed.

Theorem topk_theorem_5_1_with_one_map_is_false :
  [/\ calibrated G D loss,
      forall p, unique_minimiser loss p (target p)
    & ~ exists g, (forall b c, b =1 c -> g b =1 g c)
                  /\ forall p, unique_minimiser loss p (g (mean_share G D p))].
Proof.
have unique p : unique_minimiser loss p (target p) := squared_loss_minimiser doubled p.
split=> //.
  move=> p s rk s_least rk_sorts; apply: sorted_by_mean_share => i j lt_ij.
  apply: rk_sorts; have [_ /(_ s (s_least _)) s_target] := unique p.
  by rewrite !s_target -subr_gt0 target_difference subr_gt0.
case=> g [g_ext g_least].
have g_target p : g (mean_share G D p) =1 target p.
  by have [_ only] := unique p; apply: only; have [least _] := g_least p; apply: least.
have D01 := sum_gt0; have two_neq0 : 2%:R != 0 :> R by rewrite pnatr_eq0.
have same : mean_share G D both_or_none =1 mean_share G D one_or_none.
  move=> i; rewrite /mean_share !average_image big_bool sum_option_bool /=.
  rewrite share_both share_none !share_one.
  have -> : (i == ord_max)%:R = 1 - (i == ord0)%:R :> R.
    by case: (two_cases i) => ->; rewrite /= ?subr0 ?subrr.
  by rewrite /a; field; rewrite ?gt_eqF.
have := g_ext _ _ same ord0; rewrite !g_target /target !average_image.
rewrite big_bool sum_option_bool /= doubled_both doubled_none !doubled_one /=.
rewrite !mulr0 addr0 add0r mul0r mulr0 add0r mul1r mulKf // /a.
have -> : D 0%N / (2%:R * (D 0%N + D 1%N)) / D 0%N = 2%:R^-1 / (D 0%N + D 1%N).
  by field; rewrite ?gt_eqF.
rewrite -[LHS]mul1r => /(mulIf (invr_neq0 (lt0r_neq0 D01)))/eqP.
by rewrite eq_sym invr_eq1 -subr_eq0 [2%:R]mulr2n addrK oner_eq0.
Qed.

End OneMap.
