(* Laws of queries, and what is used of the expectation of n independent ones.

   The theorems on samples speak of any law: of a rule that gives the expectations
   of functions of n independent queries, and of which it is assumed what all
   expectations have. So they hold for Lebesgue's integral, with functions that
   are measurable and have a finite expectation of their absolute value. A law of
   finitely many queries is one of them: its expectations are finite sums, all of
   which exist, and nothing is assumed.

   Contents
     Samples               n queries; one that is put in front, left out,
                           exchanged with another, or replaced
     Laws                  expectations of functions of a sample
     One query             its expectation, and independence of the others
     Finite laws           weights that are at least 0 and have the sum 1
*)

From formal Require Import library.
From mathcomp Require Import perm.

(* ------------------------------------------------------------------------- *)
(* Samples *)

Section Samples.

Variable Z : Type.

(* n queries, with the numbers 0 to n - 1 *)
Definition sample n := {ffun 'I_n -> Z}.

Section OfOneLength.

Variable n : nat.
Implicit Types (S : sample n) (i j : 'I_n) (z : Z).

(* S with the queries i and j exchanged *)
Definition exchange i j S : sample n := [ffun k => S (tperm i j k)].

(* S with z in place of query i *)
Definition replace i z S : sample n := [ffun k => if k == i then z else S k].

(* z, and then S *)
Definition extend z S : sample n.+1 :=
  [ffun k => if unlift ord0 k is Some j then S j else z].

Lemma exchangeK i j : involutive (exchange i j).
Proof. by move=> S; apply/ffunP => k; rewrite !ffunE tpermK. Qed.

Lemma extend0 z S : extend z S ord0 = z.
Proof. by rewrite ffunE unlift_none. Qed.

Lemma extend_lift z S j : extend z S (lift ord0 j) = S j.
Proof. by rewrite ffunE liftK. Qed.

End OfOneLength.

(* All queries of a sample but the first *)
Definition rest n (S : sample n.+1) : sample n := [ffun j => S (lift ord0 j)].

Lemma rest_extend n z (S : sample n) : rest (extend z S) = S.
Proof. by apply/ffunP => j; rewrite ffunE extend_lift. Qed.

Lemma extend_rest n (S : sample n.+1) : extend (S ord0) (rest S) = S.
Proof.
apply/ffunP => k; rewrite ffunE.
by case: unliftP => [j|] -> //; rewrite ffunE.
Qed.

(* If the first query is exchanged with another, it takes its place among the
   rest. *)
Lemma rest_exchange n (S : sample n.+1) (i : 'I_n) :
  rest (exchange ord0 (lift ord0 i) S) = replace i (S ord0) (rest S).
Proof.
apply/ffunP => j; rewrite !ffunE; case: eqP => [->|/eqP j_i]; first by rewrite tpermR.
by rewrite tpermD // eq_sym (inj_eq lift_inj).
Qed.

End Samples.

(* ------------------------------------------------------------------------- *)
(* Laws *)

(* The expectation of a function of n independent queries, for those functions
   that have one *)
Record law (R : realFieldType) (Z : Type) := Law {
  some_query : Z;
  integrable : forall n, (sample Z n -> R) -> Prop;
  expect : forall n, (sample Z n -> R) -> R;
  integrable_ext : forall n (f g : sample Z n -> R),
    f =1 g -> integrable f -> integrable g;
  integrable_const : forall n c, integrable (fun _ : sample Z n => c);
  integrable_lin : forall n a (f g : sample Z n -> R),
    integrable f -> integrable g -> integrable (fun S => a * f S + g S);
  (* Expectations are linear and increase with the function. *)
  expect_const : forall n c, expect (fun _ : sample Z n => c) = c;
  expect_lin : forall n a (f g : sample Z n -> R),
    integrable f -> integrable g ->
    expect (fun S => a * f S + g S) = a * expect f + expect g;
  expect_le : forall n (f g : sample Z n -> R), integrable f -> integrable g ->
    (forall S, f S <= g S) -> expect f <= expect g;
  (* All queries of a sample have the same law. *)
  integrable_exchange : forall n i j (f : sample Z n -> R), integrable f ->
    integrable (fun S => f (exchange i j S));
  expect_exchange : forall n i j (f : sample Z n -> R), integrable f ->
    expect (fun S => f (exchange i j S)) = expect f;
  (* The first of them is independent of the rest. *)
  integrable_rest : forall n (f : sample Z n -> R), integrable f ->
    integrable (fun S => f (rest S));
  integrable_first : forall n (f : sample Z n.+1 -> R), integrable f ->
    (forall S, integrable (fun S1 : sample Z 1 => f (extend (S1 ord0) S))) ->
    integrable (fun S =>
      expect (fun S1 : sample Z 1 => f (extend (S1 ord0) S)));
  expect_first : forall n (f : sample Z n.+1 -> R), integrable f ->
    (forall S, integrable (fun S1 : sample Z 1 => f (extend (S1 ord0) S))) ->
    expect f = expect (fun S =>
      expect (fun S1 : sample Z 1 => f (extend (S1 ord0) S)))
}.
Arguments integrable {R Z} l {n} f.
Arguments expect {R Z} l {n} f.

Section Expectation.

Variables (R : realFieldType) (Z : Type) (P : law R Z).

Section OfOneLength.

Variable n : nat.
Implicit Types (f g : sample Z n -> R).

Lemma expect_ext f g : f =1 g -> integrable P f -> expect P f = expect P g.
Proof.
move=> fg f_ok; have g_ok := integrable_ext fg f_ok.
by apply/eqP; rewrite eq_le !expect_le // => S; rewrite fg.
Qed.

Lemma integrableD f g : integrable P f -> integrable P g ->
  integrable P (fun S => f S + g S).
Proof.
move=> f_ok g_ok; apply: integrable_ext (integrable_lin 1 f_ok g_ok) => S.
by rewrite mul1r.
Qed.

Lemma expectD f g : integrable P f -> integrable P g ->
  expect P (fun S => f S + g S) = expect P f + expect P g.
Proof.
move=> f_ok g_ok; rewrite -[X in X + _]mul1r -expect_lin //.
by apply: expect_ext (integrableD f_ok g_ok) => S; rewrite mul1r.
Qed.

Lemma integrableZ a f : integrable P f -> integrable P (fun S => a * f S).
Proof.
move=> f_ok; apply: integrable_ext (integrable_lin a f_ok (integrable_const P n 0)).
by move=> S; rewrite addr0.
Qed.

Lemma expectZ a f : integrable P f -> expect P (fun S => a * f S) = a * expect P f.
Proof.
move=> f_ok; rewrite -[RHS]addr0 -[X in _ + X](expect_const P n 0) -expect_lin //.
  by apply: expect_ext (integrableZ a f_ok) => S; rewrite addr0.
exact: integrable_const.
Qed.

Lemma integrableB f g : integrable P f -> integrable P g ->
  integrable P (fun S => f S - g S).
Proof.
move=> f_ok g_ok; apply: integrable_ext (integrable_lin (-1) g_ok f_ok) => S.
by rewrite mulN1r addrC.
Qed.

Lemma expectB f g : integrable P f -> integrable P g ->
  expect P (fun S => f S - g S) = expect P f - expect P g.
Proof.
move=> f_ok g_ok; rewrite [RHS]addrC -mulN1r -expect_lin //.
by apply: expect_ext (integrableB f_ok g_ok) => S; rewrite mulN1r addrC.
Qed.

Lemma integrable_sum (I : Type) (r : seq I) (f : I -> sample Z n -> R) :
  (forall i, integrable P (f i)) -> integrable P (fun S => \sum_(i <- r) f i S).
Proof.
move=> f_ok; elim: r => [|i r IH].
  by apply: integrable_ext (integrable_const P n 0) => S; rewrite big_nil.
by apply: integrable_ext (integrableD (f_ok i) IH) => S; rewrite big_cons.
Qed.

Lemma expect_sum (I : Type) (r : seq I) (f : I -> sample Z n -> R) :
  (forall i, integrable P (f i)) ->
  expect P (fun S => \sum_(i <- r) f i S) = \sum_(i <- r) expect P (f i).
Proof.
move=> f_ok; elim: r => [|i r IH].
  rewrite big_nil -[RHS](expect_const P n); symmetry.
  by apply: expect_ext (integrable_const P n 0) => S; rewrite big_nil.
rewrite big_cons -IH -expectD //; last exact: integrable_sum.
by symmetry; apply: expect_ext => [S|]; rewrite ?big_cons //;
  apply: integrableD => //; exact: integrable_sum.
Qed.

Lemma expect_le_const f c : integrable P f -> (forall S, f S <= c) ->
  expect P f <= c.
Proof.
move=> f_ok le_c; rewrite -[c](expect_const P n).
by apply: expect_le => //; exact: integrable_const.
Qed.

End OfOneLength.

(* ------------------------------------------------------------------------- *)
(* One query *)

Implicit Types (g : Z -> R).

(* The expectation of a function of one query *)
Definition integrable1 g := integrable P (fun S : sample Z 1 => g (S ord0)).
Definition mean g : R := expect P (fun S : sample Z 1 => g (S ord0)).

Lemma mean_ext g g' : g =1 g' -> integrable1 g -> mean g = mean g'.
Proof. by move=> gg' g_ok; apply: expect_ext => // S. Qed.

Lemma mean_const c : mean (fun=> c) = c.
Proof. exact: expect_const. Qed.

(* A function of the rest has the expectation that it has without the first. *)
Lemma expect_rest n (f : sample Z n -> R) : integrable P f ->
  expect P (fun S => f (rest S)) = expect P f.
Proof.
move=> f_ok; have rest_ok := integrable_rest f_ok.
have inner S : (fun S1 : sample Z 1 => f (rest (extend (S1 ord0) S))) =1 (fun=> f S).
  by move=> S1; rewrite rest_extend.
have inner_ok S :
    integrable P (fun S1 : sample Z 1 => f (rest (extend (S1 ord0) S))).
  by apply: integrable_ext (integrable_const P 1 (f S)) => S1; rewrite inner.
rewrite expect_first //; symmetry; apply: expect_ext => // S.
by rewrite (expect_ext (inner S)) ?expect_const.
Qed.

(* Every query of a sample has the law of one. *)
Lemma expect_at n (i : 'I_n) g : integrable1 g ->
  integrable P (fun S : sample Z n => g (S i))
  /\ expect P (fun S : sample Z n => g (S i)) = mean g.
Proof.
move=> g_ok; elim: n i => [[] //|n IH] i.
have later j : integrable P (fun S : sample Z n.+1 => g (S (lift ord0 j)))
    /\ expect P (fun S : sample Z n.+1 => g (S (lift ord0 j))) = mean g.
  have [rest_ok <-] := IH j; have := integrable_rest rest_ok => first_ok.
  have same : (fun S : sample Z n.+1 => g (rest S j))
      =1 (fun S => g (S (lift ord0 j))).
    by move=> S; rewrite ffunE.
  split; first exact: integrable_ext same first_ok.
  by rewrite -(expect_ext same first_ok) (expect_rest rest_ok).
case: (unliftP ord0 i) => [j|] ->; first exact: later.
case: n IH later {i} => [_ _|n _ later]; first by [].
have [ok <-] := later ord0; pose i1 := lift ord0 (ord0 : 'I_n.+1).
have same : (fun S : sample Z n.+2 => g (exchange ord0 i1 S i1))
    =1 (fun S => g (S ord0)).
  by move=> S; rewrite ffunE tpermR.
have := integrable_exchange ord0 i1 ok => swapped_ok.
split; first exact: integrable_ext same swapped_ok.
by rewrite -(expect_ext same swapped_ok) (expect_exchange ord0 i1 ok).
Qed.

Lemma expect_fresh n (i : 'I_n.+1) (g : sample Z n.+1 -> Z -> R) :
  (forall S S' : sample Z n.+1,
     (forall j, j != i -> S j = S' j) -> g S =1 g S') ->
  integrable P (fun S => g S (S i)) -> (forall S, integrable1 (g S)) ->
  integrable P (fun S => mean (g S))
  /\ expect P (fun S => g S (S i)) = expect P (fun S => mean (g S)).
Proof.
move=> others g_ok g1_ok; pose h S := g (exchange ord0 i S) (S ord0).
have h_def S : h (exchange ord0 i S) = g S (S i).
  by rewrite /h exchangeK ffunE tpermL.
have h_ok : integrable P h.
  apply: integrable_ext (integrable_exchange ord0 i g_ok) => S.
  by rewrite -h_def exchangeK.
pose K (S : sample Z n) := expect P (fun S1 : sample Z 1 => h (extend (S1 ord0) S)).
have same z S : g (exchange ord0 i (extend z (rest S))) =1 g (exchange ord0 i S).
  apply: others => j j_i; rewrite !ffunE; case: unliftP => [k ->|/eqP].
    by rewrite ffunE.
  by rewrite -(inj_eq (@perm_inj _ (tperm ord0 i))) tpermK tpermL (negPf j_i).
have inner z S : h (extend z (rest S)) = g (exchange ord0 i S) z.
  by rewrite /h extend0 same.
have inner_ok S : integrable P (fun S1 : sample Z 1 => h (extend (S1 ord0) S)).
  rewrite -(rest_extend (some_query P) S).
  apply: integrable_ext (g1_ok (exchange ord0 i (extend (some_query P) S))) => S1.
  by rewrite inner.
have K_rest S : K (rest S) = mean (g (exchange ord0 i S)).
  by apply: expect_ext => [S1|]; rewrite ?inner.
have K_ok : integrable P K by exact: integrable_first.
have mean_ok : integrable P (fun S => mean (g (exchange ord0 i S))).
  exact: integrable_ext K_rest (integrable_rest K_ok).
have back : (fun S => mean (g (exchange ord0 i (exchange ord0 i S))))
    =1 (fun S => mean (g S)).
  by move=> S; rewrite exchangeK.
have := integrable_exchange ord0 i mean_ok => back_ok.
split; first exact: integrable_ext back back_ok.
rewrite -(expect_ext back back_ok).
rewrite (expect_exchange ord0 i mean_ok) -(expect_ext K_rest (integrable_rest K_ok)).
rewrite expect_rest // -(expect_first h_ok inner_ok) -(expect_exchange ord0 i h_ok).
by symmetry; apply: expect_ext (integrable_exchange ord0 i h_ok) => S.
Qed.

(* Each query of a sample is independent of the others: if g S does not depend on
   query i, the expectation of g S (S i) is that of the mean of g S. *)
Theorem queries_are_independent n (i : 'I_n) (g : sample Z n -> Z -> R) :
  (forall S S' : sample Z n, (forall j, j != i -> S j = S' j) -> g S =1 g S') ->
  integrable P (fun S => g S (S i)) -> (forall S, integrable1 (g S)) ->
  integrable P (fun S => mean (g S))
  /\ expect P (fun S => g S (S i)) = expect P (fun S => mean (g S)).
Proof. by case: n i g => [[] //|n] i g; apply: expect_fresh. Qed.

End Expectation.

(* ------------------------------------------------------------------------- *)
(* Finite laws *)

(* Weights of finitely many queries *)
Record finite_law (R : realFieldType) (Z : finType) := FiniteLaw {
  weight :> Z -> R;
  weight_ge0 : forall z, 0 <= weight z;
  weight_sum : \sum_z weight z = 1
}.

Section FiniteLaws.

Variables (R : realFieldType) (Z : finType) (p : finite_law R Z).

(* The weight of a sample of independent queries, and an expectation *)
Definition product_weight n (S : sample Z n) : R := \prod_i p (S i).
Definition finite_expect n (f : sample Z n -> R) : R :=
  \sum_S product_weight S * f S.

Lemma product_weight_ge0 n (S : sample Z n) : 0 <= product_weight S.
Proof. by apply: prodr_ge0 => i _; apply: weight_ge0. Qed.

Lemma product_weight_sum n : \sum_(S : sample Z n) product_weight S = 1.
Proof.
rewrite -(bigA_distr_bigA (fun _ z => p z)) /= big1 // => i _.
exact: weight_sum.
Qed.

Lemma product_weight_extend n z (S : sample Z n) :
  product_weight (extend z S) = p z * product_weight S.
Proof.
rewrite /product_weight big_ord_recl extend0; congr (_ * _).
by apply: eq_bigr => i _; rewrite extend_lift.
Qed.

Lemma finite_expect_ext n (f g : sample Z n -> R) :
  f =1 g -> finite_expect f = finite_expect g.
Proof. by move=> fg; apply: eq_bigr => S _; rewrite fg. Qed.

Lemma finite_expect_const n c : finite_expect (fun _ : sample Z n => c) = c.
Proof. by rewrite /finite_expect -mulr_suml product_weight_sum mul1r. Qed.

Lemma finite_expect_lin n a (f g : sample Z n -> R) :
  finite_expect (fun S => a * f S + g S) = a * finite_expect f + finite_expect g.
Proof.
rewrite /finite_expect mulr_sumr -big_split; apply: eq_bigr => S _ /=.
by rewrite mulrDr mulrCA.
Qed.

Lemma finite_expect_le n (f g : sample Z n -> R) :
  (forall S, f S <= g S) -> finite_expect f <= finite_expect g.
Proof.
move=> fg; apply: ler_sum => S _.
by rewrite ler_wpmul2l ?product_weight_ge0.
Qed.

Lemma finite_expect_exchange n i j (f : sample Z n -> R) :
  finite_expect (fun S => f (exchange i j S)) = finite_expect f.
Proof.
rewrite /finite_expect [RHS](reindex_inj (inv_inj (exchangeK i j))) /=.
apply: eq_bigr => S _; congr (_ * _).
rewrite /product_weight (reindex_inj (@perm_inj _ (tperm i j))).
by apply: eq_bigr => k _; rewrite ffunE.
Qed.

(* A sum over samples is a sum over the first query and the rest. *)
Lemma sum_extend n (F : sample Z n.+1 -> R) :
  \sum_S F S = \sum_S \sum_z F (extend z S).
Proof.
rewrite pair_big /= (reindex (fun zS => extend zS.2 zS.1)) //=.
exists (fun S => (rest S, S ord0)) => [[S z] _|S _] /=.
  by rewrite rest_extend extend0.
exact: extend_rest.
Qed.

(* The expectation of a function of one query *)
Lemma finite_expect1 (g : Z -> R) :
  finite_expect (fun S : sample Z 1 => g (S ord0)) = \sum_z p z * g z.
Proof.
rewrite /finite_expect sum_extend exchange_big /=; apply: eq_bigr => z _.
rewrite (eq_bigr (fun S => product_weight S * (p z * g z))) => [|S _].
  by rewrite -mulr_suml product_weight_sum mul1r.
by rewrite product_weight_extend extend0 -mulrA mulrCA.
Qed.

Lemma finite_expect_first n (f : sample Z n.+1 -> R) :
  finite_expect f
    = finite_expect (fun S =>
        finite_expect (fun S1 : sample Z 1 => f (extend (S1 ord0) S))).
Proof.
rewrite {1}/finite_expect sum_extend; apply: eq_bigr => S _.
rewrite (finite_expect1 (fun z => f (extend z S))) mulr_sumr; apply: eq_bigr => z _.
by rewrite product_weight_extend -mulrA mulrCA.
Qed.

Lemma some_finite_query : Z.
Proof.
case: (pickP (fun z : Z => true)) => [z _|none]; first exact: z.
suff [] : False by [].
have := weight_sum p; rewrite big_pred0 // => /esym/eqP.
by rewrite oner_eq0.
Qed.

(* A finite law is a law, for which every function has an expectation. *)
Definition law_of : law R Z.
Proof.
refine (@Law R Z some_finite_query (fun _ _ => True) finite_expect _ _ _
  finite_expect_const _ _ _ _ _ _ _) => //.
- by move=> n a f g _ _; exact: finite_expect_lin.
- by move=> n f g _ _; exact: finite_expect_le.
- by move=> n i j f _; exact: finite_expect_exchange.
by move=> n f _ _; exact: finite_expect_first.
Defined.

Lemma expect_law_of n (f : sample Z n -> R) : expect law_of f = finite_expect f.
Proof. by []. Qed.

Lemma mean_law_of (g : Z -> R) : mean law_of g = \sum_z p z * g z.
Proof. exact: finite_expect1. Qed.

End FiniteLaws.

(* The law of h z, where z has a law *)
Section Image.

Variables (R : realFieldType) (I Z : finType) (p : finite_law R I) (h : I -> Z).

Definition image_weight z : R := \sum_(i | h i == z) p i.

Lemma image_weight_ge0 z : 0 <= image_weight z.
Proof. by apply: sumr_ge0 => i _; apply: weight_ge0. Qed.

Lemma sum_image (f : Z -> R) : \sum_z image_weight z * f z = \sum_i p i * f (h i).
Proof.
rewrite [RHS](partition_big h xpredT) //=; apply: eq_bigr => z _.
by rewrite /image_weight mulr_suml; apply: eq_bigr => i /eqP ->.
Qed.

Lemma image_weight_sum : \sum_z image_weight z = 1.
Proof.
rewrite (eq_bigr (fun z => image_weight z * 1)) => [|z _]; last by rewrite mulr1.
rewrite sum_image -[RHS](weight_sum p).
by apply: eq_bigr => i _; rewrite mulr1.
Qed.

Definition image_law : finite_law R Z := FiniteLaw image_weight_ge0 image_weight_sum.

End Image.

(* A fair coin *)
Section Coin.

Variable R : realFieldType.

Lemma half_ge0 (z : bool) : 0 <= 2%:R^-1 :> R.
Proof. by rewrite invr_ge0 ler0n. Qed.

Lemma half_sum : \sum_(z : bool) 2%:R^-1 = 1 :> R.
Proof. by rewrite big_bool /=; field. Qed.

Definition coin : finite_law R bool_finType := FiniteLaw half_ge0 half_sum.

End Coin.
