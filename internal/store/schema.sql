-- The tables of a shadow database. docs/schema.md explains them; views.sql gives them readable names.
--
-- Each is a Parquet file of a run, without the column run: its number stands in the path. Ids of policies, clients,
-- actions and agents are those of the run, from 0; they mean nothing without it.

CREATE TABLE runs (
    run           INTEGER   NOT NULL, -- from 1, growing
    command       VARCHAR   NOT NULL, -- as typed
    version       VARCHAR   NOT NULL, -- of shadow
    started       TIMESTAMP NOT NULL, -- of the run, by the clock
    finished      TIMESTAMP NOT NULL, -- likewise; of a tail, when its last batch was sealed
    lines         BIGINT    NOT NULL, -- = parsed + unreadable
    bytes         BIGINT    NOT NULL, -- read, after decompression
    parsed        BIGINT    NOT NULL, -- = excluded + warm + requests, and not_http unless not_http_judged
    unreadable    BIGINT    NOT NULL, -- lines that no format fits
    excluded      BIGINT    NOT NULL, -- by --exclude, --since and the like
    warm          BIGINT    NOT NULL, -- judged before --since, counted nowhere
    requests      BIGINT    NOT NULL, -- judged
    late          BIGINT    NOT NULL, -- more than --lateness behind
    refusals      BIGINT    NOT NULL, -- the server itself had answered 429 or 503
    first_at      TIMESTAMP,          -- of the requests; NULL when there were none
    last_at       TIMESTAMP,          -- likewise
    resolution_us BIGINT    NOT NULL, -- of the stamps, in microseconds
    has_agents    BOOLEAN   NOT NULL, -- the log tells user agents
    has_upstream  BOOLEAN   NOT NULL, -- the log tells upstream times
    timezone      VARCHAR,            -- of stamps that do not name theirs; NULL: unknown
    carried       BIGINT    NOT NULL, -- of the requests: had been held back by the run before
    held          BIGINT    NOT NULL, -- were read, and are held back for the next run
    held_from     TIMESTAMP,          -- the earliest of these; NULL without any
    tail          VARCHAR,            -- tails.tail; NULL: the run does not grow
    not_http      BIGINT    NOT NULL, -- lines whose request is not HTTP
    not_http_judged BOOLEAN NOT NULL, -- whether these are among the requests
    moved         BIGINT    NOT NULL, -- requests judged when they began: their stamp less the request time
    days          BIGINT    NOT NULL, -- of the log with a request; 0: not counted, as of a tail
    clients       BIGINT    NOT NULL  -- in table clients
);

CREATE TABLE not_http ( -- the lines of runs.not_http by status
    run    INTEGER NOT NULL,
    status INTEGER NOT NULL, -- 0: not logged
    lines  BIGINT  NOT NULL  -- with that status
);

CREATE TABLE request_times ( -- the requests of a run by time, not of a tail
    run       INTEGER   NOT NULL,
    time      TIMESTAMP NOT NULL, -- start of a stretch; those without a request are left out
    length_us BIGINT    NOT NULL, -- of the stretch, in microseconds: a minute, or more in long logs
    requests  BIGINT    NOT NULL  -- of the stretch
);

CREATE TABLE inputs (
    run         INTEGER NOT NULL,
    input       INTEGER NOT NULL, -- from 0
    name        VARCHAR NOT NULL, -- as it was given or found
    format      VARCHAR NOT NULL, -- combined, nginx json …
    format_text VARCHAR NOT NULL, -- as the server's configuration would write it
    compression VARCHAR,          -- NULL: plain
    size        BIGINT,           -- bytes on disk; NULL: unknown (standard input)
    head_hash   UBIGINT,          -- of the first and the last block on disk; NULL: unknown
    tail_hash   UBIGINT,          -- likewise
    lines       BIGINT  NOT NULL, -- = parsed + unreadable
    parsed      BIGINT  NOT NULL, -- lines that were read
    unreadable  BIGINT  NOT NULL, -- lines that no format fits
    first_at    TIMESTAMP,        -- of its lines; NULL: none was read
    last_at     TIMESTAMP,        -- likewise
    problem     VARCHAR           -- what ended the input early, or was left unread behind its end; NULL: nothing
);

CREATE TABLE unreadable_lines ( -- the first few
    run    INTEGER NOT NULL,
    fault  INTEGER NOT NULL, -- from 0
    input  VARCHAR NOT NULL, -- inputs.name
    line   BIGINT,           -- from 1; NULL: reading began in the middle of the file
    col    INTEGER NOT NULL, -- byte of the line where reading stopped, from 1
    reason VARCHAR NOT NULL, -- what was wrong
    text   VARCHAR NOT NULL  -- the line's beginning
);

CREATE TABLE warnings ( -- about reading: what may make the figures mislead
    run     INTEGER NOT NULL,
    warning INTEGER NOT NULL, -- from 0
    text    VARCHAR NOT NULL, -- the warning
    finding VARCHAR           -- the code of the finding that says the same; NULL: none
);

CREATE TABLE findings ( -- what would mislead in the log
    run      INTEGER NOT NULL,
    finding  INTEGER NOT NULL, -- from 0, the gravest first
    code     VARCHAR NOT NULL, -- what was found: shadow doctor
    severity VARCHAR NOT NULL, -- stop, warn, info
    share    DOUBLE,           -- of the requests, from 0 to 1; NULL: it has no meaning
    evidence VARCHAR NOT NULL, -- what shows it, in words
    remedy   VARCHAR NOT NULL  -- the flags to add; "": none
);

CREATE TABLE policies (
    run                  INTEGER NOT NULL,
    policy               INTEGER NOT NULL, -- from 0, in the order of the command line
    name                 VARCHAR NOT NULL, -- canonical text of its limits, token:6/30s, or its name in the configuration
    counts_by            VARCHAR NOT NULL, -- a key as --by takes it: client, client+action, site …; or several
    requests             BIGINT  NOT NULL, -- judged
    refused              BIGINT  NOT NULL, -- requests
    clients_hit          BIGINT  NOT NULL, -- clients with a refused request
    worst_minute         TIMESTAMP,        -- its start; NULL: nothing was refused
    worst_minute_refused BIGINT  NOT NULL, -- refused in it
    bytes_saved          BIGINT  NOT NULL, -- the sizes of refused answers
    upstream_saved_us    BIGINT,           -- NULL: the log tells no upstream times
    events_kept          BOOLEAN NOT NULL, -- whether table events holds this policy's would-blocks
    delayed              BIGINT,           -- requests that had to wait; NULL: no limit keeps requests waiting, for all four
    delay_total_us       BIGINT,           -- of all of them together
    delay_p50_us         BIGINT,           -- what half of them, and 99 %, did not exceed
    delay_p99_us         BIGINT,           -- likewise
    refused_low          BIGINT,           -- of an approximation, under all assumptions; NULL: exact, for all four
    refused_high         BIGINT,           -- likewise
    clients_hit_low      BIGINT,           -- likewise
    clients_hit_high     BIGINT,           -- likewise
    degraded             BIGINT  NOT NULL, -- of the requests: judged while hosts that share the limit might have decided otherwise together
    degraded_refused     BIGINT  NOT NULL, -- refused ones of these
    combine              VARCHAR NOT NULL  -- how its limits share a request: together, each, in-turn
);

CREATE TABLE parts ( -- the limits of a policy: a request is refused when any of them refuses it
    run         INTEGER NOT NULL,
    policy      INTEGER NOT NULL, -- policies.policy
    part        INTEGER NOT NULL, -- from 0
    counts_by   VARCHAR NOT NULL, -- its key
    algorithm   VARCHAR NOT NULL, -- token, leaky, window …
    limit_count BIGINT  NOT NULL, -- requests …
    period_us   BIGINT  NOT NULL, -- … per this many microseconds
    options     VARCHAR NOT NULL, -- what follows the limit: burst=10
    limit_text  VARCHAR NOT NULL, -- the canonical text of it all
    matches     VARCHAR,          -- the requests that it may refuse, in words; NULL: all
    counts      VARCHAR           -- those that it counts
);

CREATE TABLE clients (
    run      INTEGER NOT NULL,
    client   INTEGER NOT NULL, -- from 0
    name     VARCHAR NOT NULL, -- address, prefix, user …
    class    VARCHAR NOT NULL, -- browser, crawler, tool, monitor or unknown: that of most of its requests
    agent    INTEGER NOT NULL, -- of its latest request: agents.agent
    requests BIGINT  NOT NULL, -- that count
    browser  BIGINT  NOT NULL, -- requests by the class of their agent
    crawler  BIGINT  NOT NULL, -- likewise
    tool     BIGINT  NOT NULL, -- likewise
    monitor  BIGINT  NOT NULL, -- likewise
    unknown  BIGINT  NOT NULL  -- likewise
);

CREATE TABLE agents (
    run   INTEGER NOT NULL,
    agent INTEGER NOT NULL, -- from 0
    name  VARCHAR NOT NULL, -- the User-Agent
    class VARCHAR NOT NULL  -- browser, crawler, tool, monitor or unknown
);

CREATE TABLE actions (
    run      INTEGER NOT NULL,
    action   INTEGER NOT NULL, -- from 0
    name     VARCHAR NOT NULL, -- /product/…, static, or its name in the configuration
    requests BIGINT  NOT NULL  -- that count
);

CREATE TABLE client_tallies ( -- clients with a refused request
    run           INTEGER   NOT NULL,
    policy        INTEGER   NOT NULL, -- policies.policy
    client        INTEGER   NOT NULL, -- clients.client
    refused       BIGINT    NOT NULL, -- requests
    first_refused TIMESTAMP NOT NULL, -- when the first of them came
    last_refused  TIMESTAMP NOT NULL  -- when the last of them came
);

CREATE TABLE action_tallies ( -- actions with a refused request
    run     INTEGER NOT NULL,
    policy  INTEGER NOT NULL, -- policies.policy
    action  INTEGER NOT NULL, -- actions.action
    refused BIGINT  NOT NULL  -- requests
);

CREATE TABLE refusals ( -- refused requests, each once; equal ones of one moment may share a row: sum the counts
    run    INTEGER   NOT NULL,
    time   TIMESTAMP NOT NULL, -- when the request began
    client INTEGER   NOT NULL, -- clients.client
    action INTEGER   NOT NULL, -- actions.action
    status USMALLINT NOT NULL, -- 0: not logged
    count  UINTEGER  NOT NULL, -- refused requests that the row stands for
    policy_set INTEGER NOT NULL -- the policies that refuse them: policy_sets.policy_set
);

CREATE TABLE policy_sets ( -- policies that refuse the same requests
    run        INTEGER NOT NULL,
    policy_set INTEGER NOT NULL, -- from 0
    policy     INTEGER NOT NULL, -- policies.policy
    degraded   BOOLEAN NOT NULL  -- see policies
);

CREATE TABLE curves ( -- what every limit of a shape would refuse: shadow sweep
    run         INTEGER NOT NULL,
    curve       INTEGER NOT NULL, -- from 0
    limit_kind  VARCHAR NOT NULL, -- window; fixed; window,charge=all; token
    counts_by   VARCHAR NOT NULL, -- a key as --by takes it
    action      VARCHAR,          -- whose requests it is about; NULL: all
    per_us      BIGINT,           -- length of the window in microseconds; NULL: a token bucket
    rate_count  BIGINT,           -- tokens …
    rate_per_us BIGINT,           -- … per this many microseconds; NULL: a window
    requests    BIGINT  NOT NULL, -- that it is about
    clients     BIGINT  NOT NULL, -- that these are from
    points      BIGINT  NOT NULL, -- limits at which anything changes
    kept        BIGINT  NOT NULL, -- of these in curve_points
    browser_clients BIGINT NOT NULL, -- of the clients, by class
    crawler_clients BIGINT NOT NULL, -- likewise
    tool_clients    BIGINT,       -- likewise
    monitor_clients BIGINT NOT NULL, -- likewise
    unknown_clients BIGINT NOT NULL, -- likewise
    doubted_clients BIGINT        -- that claim to be browsers and do not behave like one; NULL: not known
);

CREATE TABLE curve_points ( -- between two points, what the lower one says holds
    run                 INTEGER NOT NULL,
    curve               INTEGER NOT NULL, -- curves.curve
    limit_count         BIGINT  NOT NULL, -- N of a window, tokens that a bucket holds
    refused             BIGINT,           -- requests; NULL, as by class: not counted for this bucket
    clients_hit         BIGINT  NOT NULL, -- clients with a refused request
    browser_refused     BIGINT,           -- by the class of the client
    browser_clients_hit BIGINT  NOT NULL, -- likewise
    crawler_refused     BIGINT,           -- likewise
    crawler_clients_hit BIGINT  NOT NULL, -- likewise
    tool_refused        BIGINT,           -- likewise
    tool_clients_hit    BIGINT  NOT NULL, -- likewise
    monitor_refused     BIGINT,           -- likewise
    monitor_clients_hit BIGINT  NOT NULL, -- likewise
    unknown_refused     BIGINT,           -- likewise
    unknown_clients_hit BIGINT  NOT NULL, -- likewise
    doubted_refused     BIGINT,           -- of the doubted; both NULL where they are not known
    doubted_clients_hit BIGINT            -- likewise
);

CREATE TABLE client_identities ( -- who a client is; not of the runs of tails
    run     INTEGER NOT NULL,
    client  INTEGER NOT NULL, -- clients.client
    identity VARCHAR NOT NULL, -- person, office, undecided, program, disguised, attacker, search, crawler, monitor, own or proxy
    reasons VARCHAR           -- what shows it, a line each; NULL: not kept, since no policy hit the client
);

CREATE TABLE tails ( -- how far each shadow tail has come in a run
    run      INTEGER NOT NULL,
    tail     VARCHAR NOT NULL, -- a random name, which its checkpoint has too
    batch    BIGINT  NOT NULL, -- the last that is stored
    policies VARCHAR NOT NULL  -- of the run, as JSON
);
