# zsh -f zsh-completion.zsh <script> <line>: prints what zsh offers when TAB is typed at the end of the line, in <HIT>…</HIT>.
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; source ${(q)1}"
# What only fills arrays offers nothing yet.
zpty -w z 'compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi; local -a hits; builtin compadd -A hits "$@"; for hit in $hits; do print -r "<HIT>$hit</HIT>"; done; builtin compadd "$@"; }'
zpty -w z 'comppostfuncs=(told); told() { print "<END>"; exit }; bindkey "^I" complete-word; stty -echo; print READ""Y'
zpty -r -m z out "*READY*"
zpty -n -w z "$2"$'\t'
zpty -r -m z out "*<END>*"
print -r -- "$out"
zpty -d z
