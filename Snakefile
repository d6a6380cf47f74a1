# Where Snakemake looks first. The workflow is in workflow/Snakefile, where catalogues of workflows look.
include: "workflow/Snakefile"


keep_default_target()
