#!/bin/sh
# Restarts the process on a port without downtime: sh restart.sh 3001 systemctl restart shop@3001
# With another configuration: NGINX_COMMAND='nginx -c /path/nginx.conf' SITE=/path/site.conf sh restart.sh ...
# The command after the port ends the process with SIGTERM, waits for its exit and starts it. Restart one process at a time.
set -e
port=$1
shift
file=${SITE:-/etc/nginx/conf.d/site.conf}
if [ ! -f "$file" ]; then
    echo "$file does not exist. Set SITE to the file with the upstream of the site." >&2
    exit 1
fi
site=$(readlink -f "$file")

# How many other processes of the same upstream nginx uses.
others=$(awk -v address="127.0.0.1:$port" '
    { sub(/#.*/, ""); name = $2; sub(/;$/, "", name) }
    $1 == "upstream" { found = 0; others = 0 }
    $1 == "server" && name == address { found = 1; next }
    $1 == "server" && !/[ \t]down[ \t;]/ { others += 1 }
    /}/ && found { print others; exit }' "$site")
case $others in
'')
    echo "$site has no line 'server 127.0.0.1:$port'. Correct the port, or set SITE to the file with that line." >&2
    exit 1
    ;;
0)
    echo "No other process is in use by nginx. First restart the processes that are 'down' in $site." >&2
    exit 1
    ;;
esac

# 1. nginx sends no new requests to the process. Running requests continue.
sed -i "s/server 127.0.0.1:$port\( down\)*\([ ;]\)/server 127.0.0.1:$port down\2/" "$site"
${NGINX_COMMAND:-nginx} -s reload
sleep 1

# 2. The process completes its requests and ends. Its successor starts.
if ! "$@"; then
    echo "The command failed, and nginx sends no requests to port $port. Correct the command, and run this script again." >&2
    exit 1
fi
left=300 # tries, one every 0.2 s: a minute
until curl --fail --silent --max-time 2 --output /dev/null "http://127.0.0.1:$port/healthz"; do
    left=$((left - 1))
    if [ $left = 0 ]; then
        echo "The process at port $port is not healthy, and nginx sends it no requests. See its log, and run this script again." >&2
        exit 1
    fi
    sleep 0.2
done

# 3. nginx sends requests to the process again.
sed -i "s/server 127.0.0.1:$port down/server 127.0.0.1:$port/" "$site"
${NGINX_COMMAND:-nginx} -s reload
