-- The first version of the schema. Tables and columns are those of `cauri-sql`, which also says
-- why each index is there; a test compares.
--
-- Tables without a rowid are those whose rows are narrow and reached by their key alone, and the
-- ledger's entries, whose key is the order in which they are written. The others keep their rows
-- in the order of arrival, so that the wide rows are only ever appended; their primary key begins
-- with the id, which grows with time, so that its index is appended to as well.

create table accounts (
    id blob not null,
    created_at integer not null,
    version integer not null,
    due_at integer,
    number integer not null,
    primary key (id)
) strict;

create unique index accounts_number
    on accounts (number);

create table settings (
    name text not null,
    value blob not null,
    version integer not null,
    due_at integer,
    primary key (name)
) strict, without rowid;

create table api_keys (
    account blob not null,
    live integer not null,
    id blob not null,
    kind text not null,
    name text,
    hint text not null,
    hash blob not null,
    created_at integer not null,
    last_used_at integer,
    expires_at integer,
    revoked_at integer,
    version integer not null,
    due_at integer,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index api_keys_number
    on api_keys (account, live, number);

create unique index api_keys_hash
    on api_keys (hash);

create table customers (
    account blob not null,
    live integer not null,
    id blob not null,
    name text,
    email text,
    email_folded text,
    phone text,
    country text,
    reference text,
    metadata text,
    created_at integer not null,
    updated_at integer not null,
    version integer not null,
    due_at integer,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index customers_number
    on customers (account, live, number);

create index customers_created
    on customers (account, live, created_at, number);

create index customers_email
    on customers (account, live, email_folded, number)
    where email_folded is not null;

create index customers_phone
    on customers (account, live, phone, number)
    where phone is not null;

create index customers_reference
    on customers (account, live, reference, number)
    where reference is not null;

create table payment_links (
    account blob not null,
    live integer not null,
    id blob not null,
    status text not null,
    active integer not null,
    url text not null,
    title text not null,
    description text,
    amount integer,
    currency text not null,
    country text not null,
    methods text,
    reusable integer not null,
    expires_at integer,
    return_url text,
    reference text,
    metadata text,
    payments_count integer not null,
    open_payments_count integer not null,
    succeeded_payments_count integer not null,
    collected_amount integer not null,
    paid_at integer,
    created_at integer not null,
    updated_at integer not null,
    version integer not null,
    due_at integer,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index payment_links_number
    on payment_links (account, live, number);

create index payment_links_facets
    on payment_links (account, live, status, created_at, number, active, currency);

create index payment_links_reference
    on payment_links (account, live, reference, number)
    where reference is not null;

create table payments (
    account blob not null,
    live integer not null,
    id blob not null,
    status text not null,
    amount integer not null,
    currency text not null,
    fee_amount integer not null,
    method text not null,
    network text,
    reference text,
    country text not null,
    phone text,
    otp text,
    customer blob,
    payment_link blob,
    description text,
    metadata text,
    return_url text,
    next_action text,
    failure text,
    cancellation_reason text,
    refunded_amount integer not null,
    refunding_amount integer not null,
    fee_returned_amount integer not null,
    refunds_count integer not null,
    pending_amount integer not null,
    settled_at integer,
    expires_at integer not null,
    created_at integer not null,
    updated_at integer not null,
    processing_at integer,
    succeeded_at integer,
    failed_at integer,
    cancelled_at integer,
    expired_at integer,
    available_at integer,
    timeline_count integer not null,
    connection text not null,
    poll_at integer,
    scenario text,
    simulated_at integer,
    version integer not null,
    due_at integer,
    lane text not null,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index payments_number
    on payments (account, live, number);

create index payments_facets
    on payments (account, live, status, created_at, number, currency, country, method, network);

create index payments_customer
    on payments (customer, number)
    where customer is not null;

create index payments_payment_link
    on payments (payment_link, number)
    where payment_link is not null;

create index payments_reference
    on payments (account, live, reference, number)
    where reference is not null;

create index payments_due
    on payments (lane, due_at)
    where due_at is not null;

create table payouts (
    account blob not null,
    live integer not null,
    id blob not null,
    status text not null,
    amount integer not null,
    currency text not null,
    fee_amount integer not null,
    method text not null,
    network text not null,
    country text not null,
    phone text not null,
    recipient_name text,
    customer blob,
    reference text,
    description text,
    metadata text,
    failure text,
    created_at integer not null,
    updated_at integer not null,
    processing_at integer,
    succeeded_at integer,
    failed_at integer,
    connection text not null,
    poll_at integer,
    scenario text,
    simulated_at integer,
    version integer not null,
    due_at integer,
    lane text not null,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index payouts_number
    on payouts (account, live, number);

create index payouts_facets
    on payouts (account, live, status, created_at, number, currency, country, network);

create index payouts_customer
    on payouts (customer, number)
    where customer is not null;

create index payouts_reference
    on payouts (account, live, reference, number)
    where reference is not null;

create index payouts_due
    on payouts (lane, due_at)
    where due_at is not null;

create table refunds (
    account blob not null,
    live integer not null,
    id blob not null,
    status text not null,
    payment blob not null,
    amount integer not null,
    currency text not null,
    fee_returned_amount integer not null,
    reason text,
    description text,
    reference text,
    metadata text,
    failure text,
    created_at integer not null,
    updated_at integer not null,
    accepted_at integer,
    succeeded_at integer,
    failed_at integer,
    connection text not null,
    poll_at integer,
    scenario text,
    simulated_at integer,
    version integer not null,
    due_at integer,
    lane text not null,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index refunds_number
    on refunds (account, live, number);

create index refunds_facets
    on refunds (account, live, status, created_at, number, currency);

create index refunds_payment
    on refunds (payment, number);

create index refunds_reference
    on refunds (account, live, reference, number)
    where reference is not null;

create index refunds_due
    on refunds (lane, due_at)
    where due_at is not null;

create table timeline_entries (
    account blob not null,
    live integer not null,
    payment blob not null,
    number integer not null,
    kind text not null,
    status text not null,
    actor text not null,
    message text not null,
    amount integer,
    refund blob,
    event blob,
    created_at integer not null,
    version integer not null,
    due_at integer,
    primary key (account, live, payment, number)
) strict, without rowid;

create table webhook_endpoints (
    account blob not null,
    live integer not null,
    id blob not null,
    url text not null,
    events text not null,
    active integer not null,
    description text,
    metadata text,
    secret blob not null,
    previous_secret blob,
    previous_secret_expires_at integer,
    created_at integer not null,
    updated_at integer not null,
    deleted_at integer,
    version integer not null,
    due_at integer,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index webhook_endpoints_number
    on webhook_endpoints (account, live, number);

create index webhook_endpoints_present
    on webhook_endpoints (account, live, number)
    where deleted_at is null;

create table subscriptions (
    account blob not null,
    live integer not null,
    endpoints text not null,
    version integer not null,
    due_at integer,
    primary key (account, live)
) strict, without rowid;

create table events (
    account blob not null,
    live integer not null,
    id blob not null,
    kind text not null,
    created_at integer not null,
    payload text not null,
    test integer not null,
    version integer not null,
    due_at integer,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index events_number
    on events (account, live, number);

create index events_facets
    on events (account, live, kind, created_at, number);

create table deliveries (
    account blob not null,
    live integer not null,
    id blob not null,
    endpoint blob not null,
    event blob not null,
    event_kind text not null,
    url text not null,
    status text not null,
    attempts text,
    next_attempt_at integer,
    ended_by text,
    test integer not null,
    created_at integer not null,
    completed_at integer,
    version integer not null,
    due_at integer,
    number integer not null,
    primary key (id, account, live)
) strict;

create unique index deliveries_number
    on deliveries (account, live, number);

create index deliveries_event
    on deliveries (event, number);

create index deliveries_facets
    on deliveries (account, live, status, endpoint, created_at, number, event_kind);

create index deliveries_due
    on deliveries (endpoint, due_at)
    where due_at is not null;

create table idempotency (
    account blob not null,
    live integer not null,
    key text not null,
    fingerprint blob not null,
    success text not null,
    location text,
    body text,
    body_sealed blob,
    created_at integer not null,
    expires_at integer not null,
    version integer not null,
    due_at integer,
    primary key (account, live, key)
) strict;

create index idempotency_due
    on idempotency (due_at)
    where due_at is not null;

create table ledger_entries (
    account blob not null,
    live integer not null,
    number integer not null,
    id blob not null,
    transaction_id blob not null,
    ledger_account text not null,
    direction text not null,
    amount integer not null,
    currency text not null,
    kind text not null,
    source_kind text,
    source_id blob,
    balance_after integer not null,
    created_at integer not null,
    primary key (account, live, number)
) strict, without rowid;

create index ledger_entries_facets
    on ledger_entries (account, live, ledger_account, kind, created_at, number, direction, currency);

create index ledger_entries_source
    on ledger_entries (source_id, number)
    where source_id is not null;

create index ledger_entries_transaction
    on ledger_entries (transaction_id, number);

create table ledger_balances (
    account blob not null,
    live integer not null,
    currency text not null,
    ledger_account text not null,
    amount integer not null,
    primary key (account, live, currency, ledger_account)
) strict, without rowid;

create table list_counters (
    account blob not null,
    live integer not null,
    accounts integer not null,
    api_keys integer not null,
    customers integer not null,
    payment_links integer not null,
    payments integer not null,
    payouts integer not null,
    refunds integer not null,
    webhook_endpoints integer not null,
    events integer not null,
    deliveries integer not null,
    ledger_entries integer not null,
    primary key (account, live)
) strict, without rowid;

-- What SQLite is to think of the tables: that an account has a million of everything, of which a
-- few share a customer or a reference. Left to itself it takes an account for ten rows, and reads
-- all of it where it should look up one. The figures stay until somebody runs `analyze`.

analyze;

delete from sqlite_stat1;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('accounts', 'sqlite_autoindex_accounts_1', '10000000 1'),
    ('accounts', 'accounts_number', '10000000 1'),
    ('api_keys', 'sqlite_autoindex_api_keys_1', '10000 1 1 1'),
    ('api_keys', 'api_keys_number', '10000 1000 1000 1'),
    ('api_keys', 'api_keys_hash', '10000 1'),
    ('customers', 'sqlite_autoindex_customers_1', '10000000 1 1 1'),
    ('customers', 'customers_number', '10000000 1000000 1000000 1'),
    ('customers', 'customers_created', '10000000 1000000 1000000 1 1'),
    ('customers', 'customers_email', '10000000 1000000 1000000 4 1'),
    ('customers', 'customers_phone', '10000000 1000000 1000000 4 1'),
    ('customers', 'customers_reference', '10000000 1000000 1000000 4 1'),
    ('payment_links', 'sqlite_autoindex_payment_links_1', '10000000 1 1 1'),
    ('payment_links', 'payment_links_number', '10000000 1000000 1000000 1'),
    ('payment_links', 'payment_links_facets', '10000000 1000000 1000000 500000 1 1 1 1'),
    ('payment_links', 'payment_links_reference', '10000000 1000000 1000000 4 1'),
    ('payments', 'sqlite_autoindex_payments_1', '10000000 1 1 1'),
    ('payments', 'payments_number', '10000000 1000000 1000000 1'),
    ('payments', 'payments_facets', '10000000 1000000 1000000 200000 1 1 1 1 1 1'),
    ('payments', 'payments_customer', '10000000 4 1'),
    ('payments', 'payments_payment_link', '10000000 4 1'),
    ('payments', 'payments_reference', '10000000 1000000 1000000 4 1'),
    ('payments', 'payments_due', '1000 1'),
    ('payouts', 'sqlite_autoindex_payouts_1', '10000000 1 1 1'),
    ('payouts', 'payouts_number', '10000000 1000000 1000000 1'),
    ('payouts', 'payouts_facets', '10000000 1000000 1000000 200000 1 1 1 1 1'),
    ('payouts', 'payouts_customer', '10000000 4 1'),
    ('payouts', 'payouts_reference', '10000000 1000000 1000000 4 1'),
    ('payouts', 'payouts_due', '1000 1'),
    ('refunds', 'sqlite_autoindex_refunds_1', '10000000 1 1 1'),
    ('refunds', 'refunds_number', '10000000 1000000 1000000 1'),
    ('refunds', 'refunds_facets', '10000000 1000000 1000000 200000 1 1 1'),
    ('refunds', 'refunds_payment', '10000000 4 1'),
    ('refunds', 'refunds_reference', '10000000 1000000 1000000 4 1'),
    ('refunds', 'refunds_due', '1000 1'),
    ('timeline_entries', 'timeline_entries', '10000000 1000000 1000000 4 1'),
    ('webhook_endpoints', 'sqlite_autoindex_webhook_endpoints_1', '10000 1 1 1'),
    ('webhook_endpoints', 'webhook_endpoints_number', '10000 1000 1000 1'),
    ('webhook_endpoints', 'webhook_endpoints_present', '160 16 16 1'),
    ('events', 'sqlite_autoindex_events_1', '10000000 1 1 1'),
    ('events', 'events_number', '10000000 1000000 1000000 1'),
    ('events', 'events_facets', '10000000 1000000 1000000 83334 1 1'),
    ('deliveries', 'sqlite_autoindex_deliveries_1', '10000000 1 1 1'),
    ('deliveries', 'deliveries_number', '10000000 1000000 1000000 1'),
    ('deliveries', 'deliveries_event', '10000000 4 1'),
    ('deliveries', 'deliveries_facets', '10000000 1000000 1000000 333334 83334 1 1 1'),
    ('deliveries', 'deliveries_due', '10000 1000 1'),
    ('idempotency', 'sqlite_autoindex_idempotency_1', '10000000 1000000 1000000 1'),
    ('idempotency', 'idempotency_due', '1000 1'),
    ('ledger_entries', 'ledger_entries', '10000000 1000000 1000000 1'),
    ('ledger_entries', 'ledger_entries_facets', '10000000 1000000 1000000 200000 16667 1 1 1 1'),
    ('ledger_entries', 'ledger_entries_source', '10000000 4 1'),
    ('ledger_entries', 'ledger_entries_transaction', '10000000 4 1');
