(* Lemma 3 of `topk`, corrected, for lists of any length: ListNet's gradient
   decomposes over k < m labels at a time if and only if labels are binary and
   k = m - 1.

   The gradient at the scores s is P_i(s) - P_i(y) for document i, where P_i(y) is
   t^(y_i) over the sum of all t^(y_j), with t = e. Here t is any number above 1,
   and P_i(s) is any number.

   Contents
     Decompositions        sums of functions of k labels each have no mixed
                           difference over more than k labels; of two grades, a
                           function whose difference over all labels is 0
                           decomposes over all but one
     Quotients             the differences of v / z
     Lemma 3               and that it is false as printed
*)

From formal Require Import library.

(* ------------------------------------------------------------------------- *)
(* Decompositions *)

Section Decompositions.

(* The labels of m documents, of g grades *)
Variables (R : realFieldType) (m g : nat).
Let labels := {ffun 'I_m -> 'I_g}.
Implicit Types (y : labels) (F : labels -> R) (S : {set 'I_m}).
Implicit Types (i c : 'I_m) (cs : seq 'I_m) (a : 'I_g).

(* F is a sum of functions of at most k labels each. *)
Definition decomposes k F := exists h : {set 'I_m} -> labels -> R,
  (forall S y y', {in S, y =1 y'} -> h S y = h S y')
  /\ forall y, F y = \sum_(S : {set 'I_m} | (#|S| <= k)%N) h S y.

(* The labels y, but a for document c *)
Definition with_label y c a : labels := [ffun j => if j == c then a else y j].

Definition ignores c F := forall y a, F (with_label y c a) = F y.

Lemma with_label_twice y c a a' :
  with_label (with_label y c a) c a' = with_label y c a'.
Proof. by apply/ffunP => j; rewrite !ffunE; case: eqP. Qed.

Lemma with_label_swap y c c' a a' : c != c' ->
  with_label (with_label y c a) c' a' = with_label (with_label y c' a') c a.
Proof.
move=> cc'; apply/ffunP => j; rewrite !ffunE.
by case: (eqVneq j c') => [->|//]; rewrite eq_sym (negPf cc').
Qed.

Lemma with_own_label y c a : y c = a -> with_label y c a = y.
Proof. by move=> <-; apply/ffunP => j; rewrite ffunE; case: eqP => // ->. Qed.

(* The mixed difference over the labels of the documents cs, between a higher and
   a lower label for each *)
Variables hi lo : 'I_m -> 'I_g.

Fixpoint difference cs F y : R :=
  if cs is c :: cs' then
    difference cs' F (with_label y c (hi c))
    - difference cs' F (with_label y c (lo c))
  else F y.

Lemma eq_difference cs F F' : F =1 F' -> difference cs F =1 difference cs F'.
Proof. by move=> same; elim: cs => //= c cs IH y; rewrite !IH. Qed.

Lemma difference_ignores c cs F : ignores c F -> ignores c (difference cs F).
Proof.
move=> F_c; elim: cs => //= c' cs IH y a.
case: (eqVneq c c') => [<-|cc']; first by rewrite !with_label_twice.
by rewrite !(with_label_swap _ _ _ cc') !IH.
Qed.

Lemma difference_0 c cs F y : c \in cs -> ignores c F -> difference cs F y = 0.
Proof.
move=> c_in F_c; elim: cs y c_in => //= c' cs IH y.
rewrite inE => /predU1P[<-|c_in]; last by rewrite !IH // subrr.
by rewrite !(difference_ignores cs F_c) subrr.
Qed.

Lemma difference_sum (I : finType) (P : pred I) (h : I -> labels -> R) cs y :
  difference cs (fun y => \sum_(s | P s) h s y) y
    = \sum_(s | P s) difference cs (h s) y.
Proof. by elim: cs y => //= c cs IH y; rewrite !IH sumrB. Qed.

Lemma difference_decomposes k cs F y :
  decomposes k F -> uniq cs -> (k < size cs)%N -> difference cs F y = 0.
Proof.
move=> [h [h_S F_eq]] cs_uniq k_lt; rewrite (eq_difference _ F_eq).
rewrite difference_sum big1 // => S S_le.
have /subsetPn[c c_cs c_S] : ~~ ([set c in cs] \subset S).
  apply: contraTN k_lt => /subset_leq_card.
  by rewrite cardsE (card_uniqP cs_uniq) -leqNgt => /leq_trans; apply.
rewrite inE in c_cs; apply: (difference_0 _ c_cs) => y' a; apply: h_S => j jS.
by rewrite ffunE; case: eqP => // jc; rewrite -jc jS in c_S.
Qed.

(* A number less a function *)
Lemma difference_of_rest (p : R) cs F y :
  difference cs (fun y => p - F y) y
    = (size cs == 0%N)%:R * p - difference cs F y.
Proof.
elim: cs y => [|c cs IH] y /=; first by rewrite mul1r.
by rewrite !IH mul0r; ring.
Qed.

(* What decomposes over all labels but one *)
Lemma decomposes_eq k F F' : F =1 F' -> decomposes k F -> decomposes k F'.
Proof.
by move=> same [h [h_S F_eq]]; exists h; split=> // y; rewrite -same.
Qed.

Lemma decomposesD k F F' : decomposes k F -> decomposes k F' ->
  decomposes k (fun y => F y + F' y).
Proof.
move=> [h [h_S F_eq]] [h' [h'_S F'_eq]]; exists (fun S y => h S y + h' S y).
split=> [S y y' same|y]; first by rewrite (h_S _ _ _ same) (h'_S _ _ _ same).
by rewrite F_eq F'_eq big_split.
Qed.

Lemma decomposes_ignores c F : ignores c F -> decomposes m.-1 F.
Proof.
move=> F_c; exists (fun S y => if S == [set~ c] then F y else 0).
split=> [S y y' same|y].
  case: eqP => // S_eq; rewrite -(F_c y (y' c)); congr F; apply/ffunP => j.
  rewrite ffunE; case: eqP => [->//|/eqP jc]; apply: same.
  by rewrite S_eq !inE.
rewrite -big_mkcondr (big_pred1 [set~ c]) // => S /=; rewrite andb_idl //.
by move=> /eqP->; rewrite cardsC1 card_ord.
Qed.

(* What is left if parts that ignore the label of one of cs are taken away *)
Fixpoint remainder cs F y : R :=
  if cs is c :: cs' then
    remainder cs' F y - remainder cs' F (with_label y c (hi c))
  else F y.

Lemma decomposes_but_remainder cs F :
  (0 < m)%N -> decomposes m.-1 (fun y => F y - remainder cs F y).
Proof.
move=> m_gt0; elim: cs => [|c cs IH] /=.
  apply: (@decomposes_eq _ (fun=> 0)) => [y|]; first by rewrite subrr.
  exact: (@decomposes_ignores (Ordinal m_gt0)).
have part : decomposes m.-1 (fun y => remainder cs F (with_label y c (hi c))).
  by apply: (@decomposes_ignores c) => y a; rewrite with_label_twice.
apply: decomposes_eq (decomposesD IH part) => y.
by rewrite opprB addrA addrAC.
Qed.

Lemma remainder_hi c cs F y : c \in cs -> y c = hi c -> remainder cs F y = 0.
Proof.
elim: cs y => //= c' cs IH y; rewrite inE => /predU1P[<-|c_in] y_c.
  by rewrite with_own_label ?subrr.
by rewrite !IH ?subrr // ffunE; case: eqP => // <-.
Qed.

Lemma remainder_lo cs F y : uniq cs -> {in cs, forall c, y c = lo c} ->
  remainder cs F y = (- 1) ^+ size cs * difference cs F y.
Proof.
elim: cs y => [|c cs IH] y /=; first by rewrite mul1r.
move=> /andP[c_notin cs_uniq] y_lo.
have y_c : with_label y c (lo c) = y.
  by rewrite with_own_label // y_lo // mem_head.
have y_cs c' : c' \in cs -> y c' = lo c'.
  by move=> c'_in; rewrite y_lo // inE c'_in orbT.
rewrite y_c !IH // => [|c' c'_in]; last first.
  by rewrite ffunE; case: eqP c'_in => [->|_ /y_cs//]; rewrite (negPf c_notin).
by rewrite exprS mulN1r mulNr mulrBr opprB.
Qed.

End Decompositions.

(* ------------------------------------------------------------------------- *)
(* Quotients *)

Section Quotients.

Variables (R : realFieldType) (b : R).
Hypothesis b_gt0 : 0 < b.
Implicit Types (v z : R) (n : nat) (f : R -> R).

(* The n-th difference with the step b *)
Fixpoint steps n f z : R :=
  if n is n'.+1 then steps n' f (z + b) - steps n' f z else f z.

(* z (z + b) ... (z + n b) *)
Definition rising n z : R := \prod_(i < n.+1) (z + b *+ i).

Lemma rising_gt0 n z : 0 < z -> 0 < rising n z.
Proof.
move=> z_gt0; apply: prodr_gt0 => i _.
by rewrite ltr_paddr // mulrn_wge0 // ltW.
Qed.

Lemma rising_shift n z :
  rising n (z + b) * z = rising n z * (z + b *+ n.+1).
Proof.
rewrite /rising [in LHS]big_ord_recr [in RHS]big_ord_recl /= mulr0n addr0.
under eq_bigr do rewrite -addrA -mulrS.
by rewrite -addrA -mulrS mulrC mulrA.
Qed.

Lemma steps_quotient n v z : 0 < z ->
  steps n (fun z => v / z) z = (- 1) ^+ n * (n`!%:R * b ^+ n) * v / rising n z.
Proof.
elim: n z => [|n IH] z z_gt0 /=.
  by rewrite /rising big_ord_recl big_ord0 mulr0n addr0 mulr1 !mul1r.
have zb_gt0 : 0 < z + b by rewrite addr_gt0.
have end_gt0 : 0 < z + b *+ n.+1 by rewrite ltr_paddr // mulrn_wge0 // ltW.
rewrite !IH // (_ : rising n.+1 z = rising n z * (z + b *+ n.+1)); last first.
  by rewrite /rising big_ord_recr.
have -> : rising n (z + b) = rising n z * (z + b *+ n.+1) / z.
  by rewrite -rising_shift mulfK ?gt_eqF.
rewrite factS natrM !exprS mulN1r.
move: (rising_gt0 n z_gt0) (n`!%:R : R) (b ^+ n) ((- 1) ^+ n : R) end_gt0.
move: (rising n z) => Q Q_gt0 A B s; rewrite -[b *+ n.+1]mulr_natl.
move: (n.+1%:R : R) => N end_gt0; field.
by rewrite !gt_eqF.
Qed.

End Quotients.

(* ------------------------------------------------------------------------- *)
(* Lemma 3 *)

Section ListNet.

Variables (R : realFieldType) (m g : nat) (t : R).
Hypothesis t_gt1 : 1 < t.
Let labels := {ffun 'I_m -> 'I_g}.
Implicit Types (y : labels) (i c : 'I_m) (cs : seq 'I_m).

Let t_gt0 : 0 < t := lt_trans ltr01 t_gt1.

Definition total y : R := \sum_j t ^+ y j.

(* P_i(y) *)
Definition share i y : R := t ^+ y i / total y.

Lemma total_with_label y c a :
  total (with_label y c a) = total y + (t ^+ a - t ^+ y c).
Proof.
rewrite /total (bigD1 c) // [in RHS](bigD1 c) //= ffunE eqxx.
rewrite [RHS]addrC addrA subrK; congr (_ + _).
by apply: eq_bigr => j /negPf j_c; rewrite ffunE j_c.
Qed.

Lemma total_gt0 y c : 0 < total y.
Proof.
rewrite /total (bigD1 c) //= ltr_paddr ?exprn_gt0 //.
by apply: sumr_ge0 => j _; rewrite exprn_ge0 ?ltW.
Qed.

Variables (b : R) (hi lo : 'I_m -> 'I_g).
Hypothesis b_gt0 : 0 < b.

Lemma difference_share i cs y : uniq cs -> i \notin cs ->
  {in cs, forall c, t ^+ hi c - t ^+ lo c = b} ->
  {in cs, forall c, y c = lo c} ->
  difference hi lo cs (share i) y
    = steps b (size cs) (fun z => t ^+ y i / z) (total y).
Proof.
elim: cs y => //= c cs IH y /andP[c_notin cs_uniq].
rewrite inE negb_or => /andP[i_c i_notin] b_cs y_lo.
have b_c : t ^+ hi c - t ^+ lo c = b by rewrite b_cs ?mem_head.
have y_c : y c = lo c by rewrite y_lo ?mem_head.
have y_cs c' : c' \in cs -> y c' = lo c'.
  by move=> c'_in; rewrite y_lo // inE c'_in orbT.
have b_cs' : {in cs, forall c, t ^+ hi c - t ^+ lo c = b}.
  by move=> c' c'_in; rewrite b_cs // inE c'_in orbT.
rewrite (with_own_label y_c) !IH // => [|c' c'_in]; last first.
  by rewrite ffunE; case: eqP c'_in => [->|_ /y_cs//]; rewrite (negPf c_notin).
by rewrite total_with_label y_c b_c ffunE (negPf i_c).
Qed.

End ListNet.

Section Lemma3.

Variables (R : realFieldType) (m : nat) (t : R) (p : 'I_m -> R).
Hypothesis t_gt1 : 1 < t.

Let t_gt0 : 0 < t := lt_trans ltr01 t_gt1.
Let t_neq0 : t != 0 := lt0r_neq0 t_gt0.

(* The component of the gradient at document i *)
Definition gradient g i (y : {ffun 'I_m -> 'I_g}) : R := p i - share t i y.

(* All documents but i *)
Let others i := rem i (enum 'I_m).

Lemma others_uniq i : uniq (others i).
Proof. exact/rem_uniq/enum_uniq. Qed.

Lemma notin_others i : i \notin others i.
Proof. by rewrite mem_rem_uniq ?enum_uniq // inE eqxx. Qed.

Lemma size_others i : size (others i) = m.-1.
Proof. by rewrite size_rem ?mem_enum // -cardE card_ord. Qed.

(* Binary labels: the difference between 1 and 0 over i and k others *)
Section Binary.

Variable g : nat.
Let zero : 'I_g.+2 := inord 0.
Let one : 'I_g.+2 := inord 1.
Let zeros : {ffun 'I_m -> 'I_g.+2} := [ffun=> zero].
Let b := t - 1.

Lemma b_gt0 : 0 < b.
Proof. by rewrite subr_gt0. Qed.

Lemma binary_difference i cs : uniq cs -> i \notin cs ->
  difference (fun=> one) (fun=> zero) (i :: cs) (share t i) zeros
    = (- 1) ^+ size cs * ((size cs)`!%:R * b ^+ (size cs).+1)
        * (m%:R - (size cs).+1%:R) / rising b (size cs).+1 m%:R.
Proof.
have b_pos := b_gt0; move=> cs_uniq i_cs /=.
set k := size cs; set y0 := zeros.
have m_gt0 : 0 < m%:R :> R by rewrite ltr0n (leq_ltn_trans (leq0n i)).
have t_one : t ^+ one = t by rewrite /one inordK.
have t_zero : t ^+ zero = 1 by rewrite /zero inordK.
have total0 : total t y0 = m%:R.
  rewrite /total (eq_bigr (fun=> 1)) => [|j _]; last by rewrite ffunE t_zero.
  by rewrite sumr_const card_ord.
have b_cs : {in cs, forall c : 'I_m, t ^+ one - t ^+ zero = b}.
  by move=> c _; rewrite t_one t_zero.
have not_i c : c \in cs -> (c == i) = false.
  by move=> c_in; apply: contraNF i_cs => /eqP<-.
rewrite !(difference_share cs_uniq i_cs b_cs) => [|c c_in|c c_in]; last 2 first.
- by rewrite !ffunE not_i.
- by rewrite !ffunE not_i.
rewrite !total_with_label total0 !ffunE eqxx t_one t_zero subrr addr0.
rewrite -/b !(steps_quotient b_gt0) //; last exact: addr_gt0.
have end_gt0 : 0 < m%:R + b *+ k.+1 by rewrite ltr_paddr // mulrn_wge0 // ltW.
have -> : rising b k (m%:R + b)
    = rising b k m%:R * (m%:R + b *+ k.+1) / m%:R.
  by rewrite -rising_shift mulfK ?gt_eqF.
rewrite (_ : rising b k.+1 m%:R = rising b k m%:R * (m%:R + b *+ k.+1)).
  have -> : t = b + 1 by rewrite subrK.
  move: (rising_gt0 b_gt0 k m_gt0) end_gt0.
  rewrite -[b *+ k.+1]mulr_natl exprS.
  move: (rising b k m%:R) (k`!%:R : R) (b ^+ k) ((- 1) ^+ k : R).
  move=> Q A B s Q_gt0 end_gt0.
  move: (k.+1%:R : R) end_gt0 => N end_gt0.
  by field; rewrite !gt_eqF.
by rewrite /rising big_ord_recr.
Qed.

(* Fewer than all labels but one are not enough. *)
Lemma binary_needs k i : (k < m.-1)%N -> ~ decomposes k (@gradient g.+2 i).
Proof.
have b_pos := b_gt0; move=> k_lt dec; pose cs := take k (others i).
have size_cs : size cs = k by rewrite size_takel // size_others ltnW.
have cs_uniq : uniq cs by apply/take_uniq/others_uniq.
have i_cs : i \notin cs.
  by apply: contra (notin_others i); apply: mem_take.
have m_gt0 : 0 < m%:R :> R by rewrite ltr0n (leq_ltn_trans (leq0n i)).
have := difference_decomposes (fun=> one) (fun=> zero) zeros dec
  (cs := i :: cs).
rewrite /= i_cs cs_uniq size_cs => /(_ isT (ltnSn k)).
rewrite -/(difference _ _ (i :: cs) _ _) /gradient difference_of_rest mul0r.
rewrite sub0r binary_difference // size_cs => /eqP; apply/negP.
rewrite oppr_eq0 !mulf_neq0 ?invr_eq0 ?signr_eq0 ?expf_neq0 ?(gt_eqF b_gt0) //.
- by rewrite pnatr_eq0 -lt0n fact_gt0.
- rewrite subr_eq0 eqr_nat gtn_eqF //; move: k_lt.
  by case: (m) => // m' /=; rewrite ltnS.
by rewrite gt_eqF // rising_gt0.
Qed.

End Binary.

(* All labels but one are enough for two grades. *)
Lemma binary_decomposes i : decomposes m.-1 (@gradient 2 i).
Proof.
pose zero : 'I_2 := inord 0; pose one : 'I_2 := inord 1.
have m_gt0 : (0 < m)%N := leq_ltn_trans (leq0n i) (ltn_ord i).
pose cs := i :: others i.
have := decomposes_but_remainder (fun=> one) cs (@gradient 2 i) m_gt0.
apply: decomposes_eq => y; rewrite -[RHS]subr0; congr (_ - _).
have in_cs c : c \in cs.
  rewrite inE /others rem_filter ?enum_uniq // mem_filter mem_enum andbT.
  by rewrite /= orbN.
case: (pickP (fun c => y c == one)) => [c /eqP y_c|none].
  exact: (remainder_hi _ (in_cs c)).
have -> : y = [ffun=> zero].
  apply/ffunP => c; rewrite ffunE; have := none c.
  rewrite -!val_eqE /= !inordK //.
  by case: (y c) => [[|[|]]] //= lt _; apply: val_inj; rewrite /= inordK.
rewrite (@remainder_lo _ _ _ _ (fun=> zero)) => [||c _]; last 2 first.
- by rewrite /= notin_others others_uniq.
- by rewrite ffunE.
rewrite /gradient difference_of_rest mul0r sub0r.
rewrite (binary_difference 0) ?others_uniq ?notin_others // size_others prednK //.
by rewrite subrr mulr0 mul0r oppr0 mulr0.
Qed.

(* Three grades: the difference between 2 and 1 for i, and between 2 and 0 for
   all others *)
Lemma graded_needs_all g k i :
  (1 < m)%N -> (k < m)%N -> ~ decomposes k (@gradient g.+3 i).
Proof.
move=> m_gt1 k_lt dec; pose n := m.-1; have m_gt0 := ltnW m_gt1.
have n_gt0 : (0 < n)%N by rewrite -ltnS prednK.
pose grade a : 'I_g.+3 := inord a.
pose lo c := if c == i then grade 1%N else grade 0%N.
pose u := t ^+ 2; pose b := u - 1.
have u_gt1 : 1 < u by rewrite exprn_egt1.
have b_gt0 : 0 < b by rewrite subr_gt0.
have t_grade a : (a < 3)%N -> t ^+ grade a = t ^+ a.
  by move=> a_lt; rewrite /grade inordK // (leq_trans a_lt).
pose y0 : {ffun 'I_m -> 'I_g.+3} := [ffun=> grade 0%N].
have total0 : total t y0 = n.+1%:R.
  rewrite /total (eq_bigr (fun=> 1)) => [|j _]; last first.
    by rewrite ffunE t_grade.
  by rewrite sumr_const card_ord /n prednK.
have := difference_decomposes (fun=> grade 2%N) lo y0 dec (cs := i :: others i).
rewrite /= notin_others others_uniq size_others prednK // => /(_ isT k_lt).
rewrite -/(difference _ _ (i :: others i) _ _) /gradient difference_of_rest mul0r.
rewrite sub0r => /eqP; rewrite oppr_eq0 /= subr_eq0 => /eqP.
have not_i c : c \in others i -> (c == i) = false.
  move=> c_in; apply: contraNF (notin_others i) => /eqP c_i.
  by rewrite -{1}c_i.
have b_cs : {in others i, forall c, t ^+ grade 2%N - t ^+ lo c = b}.
  by move=> c c_in; rewrite /lo not_i // !t_grade.
have lo_cs a : {in others i, forall c, with_label y0 i a c = lo c}.
  by move=> c c_in; rewrite !ffunE /lo not_i.
rewrite !(difference_share (others_uniq i) (notin_others i) b_cs) //.
rewrite size_others !total_with_label total0 !ffunE /lo eqxx !t_grade // -/n.
have n_tau (tau : R) : n.+1%:R + (tau - 1) = n%:R + tau.
  by rewrite mulrS; ring.
have tau_gt0 (tau : R) : 0 < tau -> 0 < n.+1%:R + (tau - 1).
  by move=> tau_gt0; rewrite n_tau addr_gt0 ?ltr0n.
rewrite !(steps_quotient b_gt0) ?tau_gt0 ?expr0 ?expr1 ?exprn_gt0 //.
move=> same; pose P tau := rising b n (n%:R + tau).
have P_gt0 tau : 0 < tau -> 0 < P tau.
  by move=> tau_gt0'; rewrite rising_gt0 // addr_gt0 ?ltr0n.
have P_u : P u = u * P 1.
  have := rising_shift b n (n%:R + 1); rewrite -/(P 1).
  rewrite (_ : n%:R + 1 + b = n%:R + u); last by rewrite /b; ring.
  rewrite -/(P u) (_ : n%:R + 1 + b *+ n.+1 = u * (n%:R + 1)); last first.
    by rewrite /b -mulr_natl mulrS; ring.
  rewrite mulrA [P 1 * u]mulrC => /mulIf; apply.
  by rewrite gt_eqF // ltr_paddl ?ler0n ?ltr01.
have u_gt0 := lt_trans ltr01 u_gt1.
have same_P : P t = t * P 1.
  move: same; rewrite !n_tau -/(P u) -/(P t) P_u -/u => same.
  have A_neq0 : (- 1) ^+ n * (n`!%:R * b ^+ n) != 0 :> R.
    rewrite !mulf_neq0 ?signr_eq0 ?expf_neq0 ?(gt_eqF b_gt0) //.
    by rewrite pnatr_eq0 -lt0n fact_gt0.
  move: same A_neq0; move: (_ * (n`!%:R * b ^+ n)) => A same A_neq0.
  have P1_gt0 : 0 < P 1 by apply: P_gt0; apply: ltr01.
  have uP_neq0 := lt0r_neq0 (mulr_gt0 u_gt0 P1_gt0).
  have Pt_neq0 := lt0r_neq0 (P_gt0 _ t_gt0).
  move/eqP: same; rewrite (eqr_div _ _ uP_neq0 Pt_neq0) => /eqP same.
  apply: (mulfI (mulf_neq0 A_neq0 (lt0r_neq0 u_gt0))); rewrite same; ring.
have : P t * P t < P 1 * P u.
  rewrite /P /rising -!big_split /=; apply: ltr_prod => [|j _].
    by apply/hasP; exists ord0; rewrite ?mem_index_enum.
  have A_gt0 : 0 < n%:R + b *+ j by rewrite ltr_paddr ?mulrn_wge0 ?ltr0n ?ltW.
  have shift (tau : R) : n%:R + tau + b *+ j = n%:R + b *+ j + tau.
    by rewrite addrAC.
  rewrite !shift; move: (n%:R + b *+ j) A_gt0 => A A_gt0.
  rewrite mulr_ge0 ?addr_ge0 ?(ltW A_gt0) ?(ltW t_gt0) //= -subr_gt0.
  rewrite (_ : _ - _ = A * (t - 1) ^+ 2); last by rewrite /u; ring.
  by rewrite mulr_gt0 // exprn_gt0 ?subr_gt0.
rewrite same_P P_u (_ : t * P 1 * (t * P 1) = P 1 * (u * P 1)) ?ltxx //.
by rewrite /u; ring.
Qed.

(* Lemma 3, corrected: two documents and more, labels of two grades and more, and
   fewer labels than there are documents *)
Theorem topk_lemma_3 g k : (1 < m)%N -> (1 < g)%N -> (k < m)%N ->
  (forall i, decomposes k (@gradient g i)) <-> (g = 2 /\ k = m.-1)%N.
Proof.
move=> m_gt1 g_gt1 k_lt; have m_gt0 := ltnW m_gt1.
split=> [dec|[-> ->] i]; last exact: binary_decomposes.
case: g g_gt1 dec => [|[|[|g]]] // _ dec; last first.
  by case: (graded_needs_all m_gt1 k_lt (dec (Ordinal m_gt0))).
split=> //; apply/eqP; rewrite eqn_leq -ltnS prednK // k_lt leqNgt.
by apply/negP => /binary_needs; apply; apply: (dec (Ordinal m_gt0)).
Qed.

End Lemma3.

(* The lemma as printed, that the gradient does not decompose over k = 1 or 2 of
   more than k labels, is false: for three documents and binary labels it
   decomposes over pairs, and for two documents over single labels. *)
Theorem topk_lemma_3_as_printed_is_false (R : realFieldType) (t : R) : 1 < t ->
  (forall (p : 'I_3 -> R) i, decomposes 2 (gradient t p (g := 2) i))
  /\ forall (p : 'I_2 -> R) i, decomposes 1 (gradient t p (g := 2) i).
Proof.
by move=> t_gt1; split=> p i; apply: binary_decomposes.
Qed.
