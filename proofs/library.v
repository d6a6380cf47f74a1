(* What all files of this folder begin with: Mathematical Components, and its
   conventions. *)

From mathcomp Require Export all_ssreflect all_algebra ring.

#[export] Set Implicit Arguments.
#[export] Unset Strict Implicit.
#[export] Unset Printing Implicit Defensive.

Export Order.TTheory GRing.Theory Num.Theory.
#[export] Open Scope ring_scope.
