#!/bin/sh
# Restarts the process of one port, and no visitor notices: sh restart.sh 3001 systemctl restart site@3001
# One process after the other. What follows the port ends the process by SIGTERM, waits until it is gone, and starts it again.
set -e
port=$1
shift
site=${SITE:-/etc/nginx/conf.d/site.conf}

# 1. nginx sends it nothing new; what is under way there goes on.
sed -i "s/server 127.0.0.1:$port;/server 127.0.0.1:$port down;/" "$site"
nginx -s reload
sleep 1

# 2. The process ends what it has begun, and another one starts.
"$@"
left=300 # tries: a minute, where nobody listens
until curl --fail --silent --max-time 2 --output /dev/null "http://127.0.0.1:$port/healthz"; do
    left=$((left - 1))
    if [ $left = 0 ]; then
        echo "The process at port $port does not get healthy, and nginx sends it nothing. See its log, and run this again." >&2
        exit 1
    fi
    sleep 0.2
done

# 3. It gets its share again.
sed -i "s/server 127.0.0.1:$port down;/server 127.0.0.1:$port;/" "$site"
nginx -s reload
