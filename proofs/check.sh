#!/bin/sh
# Do the proofs in this folder pass Coq, and do their theorems rest on no axiom? It compiles into build/formal.
set -eu
cd "$(dirname "$0")/.."
needs="install the Debian packages coq, libcoq-mathcomp-ssreflect, libcoq-mathcomp-algebra
and libcoq-mathcomp-algebra-tactics"
if ! command -v coqc >/dev/null; then
    echo "make formal: coqc was not found; $needs" >&2
    exit 1
fi
folder=build/formal
files="perceptron_bound ranking_loss wrong_neighbours slam_losses slam_theorem_5 wrong_neighbours_of_slam"
files="$files permutation_invariance cone_stability tight_weights label_decomposition"
files="$files finite_laws regularised_risk wrong_neighbours_of_risk online_to_batch calibration top_label two_documents"
rm -rf $folder
mkdir -p $folder
# Warnings of the library's own files say nothing of these.
compile="coqc -q -w none -Q $folder formal"

# It has no theorems; what others would take from it without a proof would show among what they rest on.
if ! $compile -o $folder/library.vo proofs/library.v 2>$folder/library.errors; then
    cat $folder/library.errors >&2
    echo "make formal: does Coq lack Mathematical Components, or a part of it? If so, $needs" >&2
    exit 1
fi

for file in $files; do
    echo "proofs/$file.v"
    $compile -o $folder/$file.vo proofs/$file.v
    theorems=$(sed -n 's/^Theorem \([A-Za-z0-9_]*\).*/\1/p' proofs/$file.v)
    {
        echo "From formal Require Import $file."
        for theorem in $theorems; do
            # Coq prints the name, and then what the theorem rests on.
            echo "Goal True. idtac \"$theorem:\". Abort. Print Assumptions $theorem."
        done
    } >$folder/assumptions_of_$file.v
    $compile $folder/assumptions_of_$file.v >$folder/$file.printed
    cat $folder/$file.printed
    for theorem in $theorems; do
        echo "$theorem:"
        echo "Closed under the global context"
    done >$folder/$file.expected
    if [ -z "$theorems" ] || ! cmp -s $folder/$file.printed $folder/$file.expected; then
        echo "make formal: expected theorems of proofs/$file.v that rest on no axiom; see above" >&2
        exit 1
    fi
done
