(* Theorem 10 of `slam` and Theorem 3 of `lists`: the linear functions of a list
   of m documents with d features that do not depend on the order of the
   documents, or whose scores are reordered with the documents.

   A list is a matrix X with a row for each document, and [row_perm p X] is this
   list in another order. Numbers are those of any field.

   Contents
     To scores             Theorem 3 of `lists`: X w + (1'X v) 1, and the
                           dimension 2d for two documents and more
     To a number           Theorem 10 of `slam`: 1'X v, and a dimension of at
                           most d
*)

From formal Require Import library.
From mathcomp Require Import fingroup perm.

(* ------------------------------------------------------------------------- *)
(* To scores *)

Section Scores.

Variables (R : fieldType) (m d : nat).
Implicit Types (X : 'M[R]_(m, d)) (w v : 'cV[R]_d) (p : 'S_m).

(* If the documents are reordered, their scores are reordered with them: the
   class F_perminv of section 4 of `lists`. *)
Definition permutes (f : 'M[R]_(m, d) -> 'cV[R]_m) :=
  forall p X, f (row_perm p X) = row_perm p (f X).

(* The scores X w + (1'X v) 1, equation (2) of `lists` *)
Definition scores_of w v X : 'cV[R]_m :=
  X *m w + (const_mx 1 : 'cV_m) *m ((const_mx 1 : 'rV_m) *m X *m v).

Lemma scores_ofE w v X i :
  scores_of w v X i 0 = (X *m w) i 0 + \sum_j (X *m v) j 0.
Proof.
rewrite mxE -mulmxA; congr (_ + _); rewrite mxE big_ord1 !mxE mul1r.
by apply: eq_bigr => j _; rewrite mxE mul1r.
Qed.

Lemma scores_of_permutes w v : permutes (scores_of w v).
Proof.
move=> p X; apply/colP => i; rewrite [RHS]mxE !scores_ofE; congr (_ + _).
  by rewrite !mxE; apply: eq_bigr => c _; rewrite mxE.
rewrite [RHS](reindex_inj (@perm_inj _ p)); apply: eq_bigr => j _.
by rewrite !mxE; apply: eq_bigr => c _; rewrite mxE.
Qed.

(* Two documents can be brought to any two places. *)
Lemma two_places (i j i' j' : 'I_m) :
  i != j -> i' != j' -> exists p : 'S_m, p i = i' /\ p j = j'.
Proof.
move=> ij ij'; exists (tperm i i' * tperm (tperm i i' j) j')%g.
rewrite !permM tpermL; split; last by rewrite tpermL.
rewrite tpermD //; last by rewrite eq_sym.
by apply: contraNneq ij => /eqP; rewrite -{2}(tpermL i i') (inj_eq perm_inj) eq_sym.
Qed.

(* What a linear map is on the lists of one feature of one document *)
Lemma linear_entries (f : {linear 'M[R]_(m, d) -> 'cV[R]_m}) X i :
  f X i 0 = \sum_j \sum_c X j c * f (delta_mx j c) i 0.
Proof.
rewrite {1}(matrix_sum_delta X) linear_sum summxE; apply: eq_bigr => j _.
rewrite linear_sum summxE; apply: eq_bigr => c _.
by rewrite linearZ mxE.
Qed.

(* Theorem 3 of `lists`: the linear maps that permute are those of (2). *)
Theorem lists_theorem_3 (f : {linear 'M[R]_(m, d) -> 'cV[R]_m}) :
  permutes f <-> exists w v, f =1 scores_of w v.
Proof.
split=> [f_permutes|[w [v f_eq]] p X]; last by rewrite !f_eq scores_of_permutes.
pose a i j c := f (delta_mx j c) i 0.
have same p i j c : a (p i) (p j) c = a i j c.
  have := f_permutes p (delta_mx (p j) c).
  have -> : row_perm p (delta_mx (p j) c) = delta_mx j c :> 'M[R]_(m, d).
    by apply/matrixP => k e; rewrite !mxE (inj_eq perm_inj).
  by rewrite /a => ->; rewrite mxE.
case: (pickP 'I_m) => [i0 _|none]; last first.
  by exists 0, 0 => X; apply/colP => i; have := none i.
pose other c := if [pick j | j != i0] is Some j then a i0 j c else 0.
have a_other i j c : i != j -> a i j c = other c.
  move=> ij; rewrite /other; case: pickP => [j' j'_neq|all_i0].
    rewrite eq_sym in j'_neq; have [p [<- <-]] := two_places j'_neq ij.
    by rewrite same.
  have /negbFE/eqP i_eq := all_i0 i; have /negbFE/eqP j_eq := all_i0 j.
  by rewrite i_eq j_eq eqxx in ij.
have a_own i c : a i i c = a i0 i0 c by rewrite -(same (tperm i i0)) tpermL.
exists (\col_c (a i0 i0 c - other c)), (\col_c other c) => X; apply/colP => i.
rewrite linear_entries scores_ofE mxE.
under [X in _ + X]eq_bigr do rewrite mxE.
rewrite (bigD1 i) // [X in _ + X](bigD1 i) //= addrA; congr (_ + _).
  rewrite -big_split; apply: eq_bigr => c _ /=.
  by rewrite !mxE -mulrDr subrK -(a_own i).
apply: eq_bigr => j j_neq; apply: eq_bigr => c _; rewrite mxE -/(a i j c).
by rewrite a_other // eq_sym.
Qed.

(* Different w and v give different maps, if there are two documents. *)
Lemma scores_of_unique w v : (1 < m)%N ->
  (forall X, scores_of w v X = 0) -> w = 0 /\ v = 0.
Proof.
move=> m_gt1 zero; pose i0 := Ordinal (ltnW m_gt1); pose i1 := Ordinal m_gt1.
have entry u j c i : (delta_mx j c *m u : 'cV[R]_m) i 0 = (i == j)%:R * u c 0.
  rewrite mxE (bigD1 c) //= big1 ?addr0 => [|e e_neq]; rewrite mxE.
    by rewrite eqxx andbT.
  by rewrite (negPf e_neq) andbF mul0r.
have value c i : (i == i0)%:R * w c 0 + v c 0 = 0.
  have := congr1 (fun s : 'cV[R]_m => s i 0) (zero (delta_mx i0 c)).
  rewrite scores_ofE entry [RHS]mxE (bigD1 i0) //= entry eqxx mul1r.
  by rewrite big1 ?addr0 // => j j_neq; rewrite entry (negPf j_neq) mul0r.
have v0 c : v c 0 = 0 by have := value c i1; rewrite /= mul0r add0r.
split; apply/colP => c; rewrite mxE //.
by have := value c i0; rewrite v0 eqxx mul1r addr0.
Qed.

(* Lists and scores as spaces of finite dimension *)
Let lists_ : vectType R := [vectType R of 'M[R]_(m, d)].
Let scores_ : vectType R := [vectType R of 'cV[R]_m].

(* The space of these maps: the image of the pairs (w, v) *)
Lemma scores_of_linear w v : linear (scores_of w v).
Proof.
move=> a X Y; rewrite /scores_of mulmxDl -scalemxAl mulmxDr mulmxDl -scalemxAr.
by rewrite -scalemxAl mulmxDr -scalemxAr scalerDr addrACA.
Qed.

Definition map_of (wv : 'cV[R]_d * 'cV[R]_d) : 'Hom(lists_, scores_) :=
  linfun (Linear (scores_of_linear wv.1 wv.2)).

Lemma map_of_linear : linear map_of.
Proof.
move=> a [w v] [w' v']; apply/lfunP => X.
rewrite add_lfunE scale_lfunE !lfunE /= /scores_of !mulmxDr -!scalemxAr.
by rewrite scalerDr addrACA.
Qed.

Definition permuting_maps : {vspace 'Hom(lists_, scores_)} :=
  (linfun (Linear map_of_linear) @: fullv)%VS.

Lemma permuting_mapsP (f : 'Hom(lists_, scores_)) :
  reflect (permutes f) (f \in permuting_maps).
Proof.
apply: (iffP memv_imgP) => [[[w v] _ ->] p X|].
  by rewrite !lfunE /= scores_of_permutes.
move/lists_theorem_3 => [w [v f_eq]]; exists (w, v); first exact: memvf.
by apply/lfunP => X; rewrite f_eq !lfunE.
Qed.

(* Theorem 3 of `lists`: the linear maps from lists to scores that permute are a
   space of dimension 2d, for two documents and more. *)
Theorem lists_theorem_3_dimension : (1 < m)%N ->
  exists U : {vspace 'Hom(lists_, scores_)},
    (forall f : 'Hom(lists_, scores_), f \in U <-> permutes f)
    /\ \dim U = (2 * d)%N.
Proof.
move=> m_gt1; exists permuting_maps; split=> [f|].
  by split=> /permuting_mapsP.
rewrite limg_dim_eq.
  by rewrite dimvf -[LHS]/(d * 1 + d * 1)%N muln1 addnn mul2n.
apply/eqP; rewrite capfv; apply/lker0P => -[w v] [w' v'] /lfunP same.
have [X|w0 v0] := @scores_of_unique (w - w') (v - v') m_gt1.
  rewrite /scores_of !mulmxBr addrACA -opprD; apply/eqP; rewrite subr_eq0.
  by have := same X; rewrite !lfunE => /eqP.
by congr pair; apply/eqP; rewrite -subr_eq0 ?w0 ?v0.
Qed.

End Scores.

(* ------------------------------------------------------------------------- *)
(* To a number *)

Section Number.

Variables (R : fieldType) (m d : nat).
Implicit Types (X : 'M[R]_(m, d)) (v : 'cV[R]_d) (p : 'S_m).

(* The number does not depend on the order of the documents. *)
Definition invariant (f : 'M[R]_(m, d) -> 'cV[R]_1) :=
  forall p X, f (row_perm p X) = f X.

(* 1'X v, the sum of the scores X v *)
Definition sum_of v X : 'cV[R]_1 := (const_mx 1 : 'rV_m) *m X *m v.

Lemma sum_ofE v X : sum_of v X 0 0 = \sum_j (X *m v) j 0.
Proof.
rewrite /sum_of -mulmxA mxE; apply: eq_bigr => j _.
by rewrite [X in X * _]mxE mul1r.
Qed.

Lemma sum_of_invariant v : invariant (sum_of v).
Proof.
move=> p X; apply/colP => i; rewrite !ord1 !sum_ofE.
rewrite [RHS](reindex_inj (@perm_inj _ p)); apply: eq_bigr => j _.
by rewrite !mxE; apply: eq_bigr => c _; rewrite mxE.
Qed.

(* The linear functions of this kind are those. *)
Theorem slam_invariant_functions (f : {linear 'M[R]_(m, d) -> 'cV[R]_1}) :
  invariant f <-> exists v, f =1 sum_of v.
Proof.
split=> [f_invariant|[v f_eq] p X]; last by rewrite !f_eq sum_of_invariant.
pose a (j : 'I_m) c := f (delta_mx j c) 0 0.
have same p j c : a (p j) c = a j c.
  rewrite /a -(f_invariant p); congr (f _ 0 0).
  by apply/matrixP => k e; rewrite !mxE (inj_eq perm_inj).
case: (pickP 'I_m) => [i0 _|none]; last first.
  exists 0 => X; rewrite (_ : X = 0) ?linear0 ?/sum_of ?mulmx0 //.
  by apply/matrixP => i; have := none i.
exists (\col_c a i0 c) => X; apply/colP => i.
rewrite !ord1 sum_ofE {1}(matrix_sum_delta X) linear_sum summxE.
apply: eq_bigr => j _; rewrite linear_sum summxE mxE; apply: eq_bigr => c _.
by rewrite linearZ !mxE -(tpermL j i0) same.
Qed.

Let lists_ : vectType R := [vectType R of 'M[R]_(m, d)].
Let numbers : vectType R := [vectType R of 'cV[R]_1].

Lemma sum_of_linear v : linear (sum_of v).
Proof.
move=> a X Y.
by rewrite /sum_of mulmxDr mulmxDl -scalemxAr -scalemxAl.
Qed.

Definition number_of v : 'Hom(lists_, numbers) :=
  linfun (Linear (sum_of_linear v)).

Lemma number_of_linear : linear number_of.
Proof.
move=> a v v'; apply/lfunP => X.
by rewrite add_lfunE scale_lfunE !lfunE /= /sum_of mulmxDr -scalemxAr.
Qed.

Definition invariant_functions : {vspace 'Hom(lists_, numbers)} :=
  (linfun (Linear number_of_linear) @: fullv)%VS.

Lemma invariant_functionsP (f : 'Hom(lists_, numbers)) :
  reflect (invariant f) (f \in invariant_functions).
Proof.
apply: (iffP memv_imgP) => [[v _ ->] p X|].
  by rewrite !lfunE /= sum_of_invariant.
move/slam_invariant_functions => [v f_eq]; exists v; first exact: memvf.
by apply/lfunP => X; rewrite f_eq !lfunE.
Qed.

(* Theorem 10 of `slam`: they are a space of dimension at most d. *)
Theorem slam_theorem_10 : exists U : {vspace 'Hom(lists_, numbers)},
  (forall f : 'Hom(lists_, numbers), f \in U <-> invariant f)
  /\ (\dim U <= d)%N.
Proof.
exists invariant_functions; split=> [f|].
  by split=> /invariant_functionsP.
pose vs : vectType R := [vectType R of 'cV[R]_d].
have dim_d : \dim {: vs} = d by rewrite dimvf -[LHS]/(d * 1)%N muln1.
rewrite -[X in (_ <= X)%N]dim_d.
by rewrite -(limg_ker_dim (linfun (Linear number_of_linear)) fullv) leq_addl.
Qed.

End Number.
