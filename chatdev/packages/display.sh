# Runs "$@" on a private X display. $HOME is private to this program, in every sandbox.
# $DRIVEN is the folder of a driver, if there is one, which gets the memory of the screen.
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp ${DRIVEN:+-fbdir "$DRIVEN"} 3>"$HOME/.display" >/dev/null 2>&1 &
tries=0
while [ ! -s "$HOME/.display" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then echo "no display" >&2; exit 97; fi
    sleep 0.05
done
DISPLAY=":$(cat "$HOME/.display")"
export DISPLAY
exec "$@"
