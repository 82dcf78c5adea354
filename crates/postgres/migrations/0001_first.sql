-- The first version of the schema. Tables and columns are those of `cauri-sql`, which also says
-- why each index is there; a test compares.
--
-- Names are unqualified: a migration runs with the store's schema alone in its search path.
-- Every text sorts by its bytes, whatever the database's own collation: the order of keys is the
-- order in which rows are locked, on every node, and must not change with a library of the system.
--
-- The primary key of a scope's records begins with the id: the index by which a record is found is
-- then unlike every other, and since ids grow with time, new rows of all accounts share its pages.
-- A line of a timeline has its payment's id for that.
--
-- Tables whose rows change in place keep room in each page (`fillfactor`), so that a change of
-- columns without an index stays on its page and touches no index; the few rows of the hottest
-- tables keep half, as do deliveries, whose first attempt is such a change.

create table accounts (
    id uuid not null,
    created_at bigint not null,
    version bigint not null,
    due_at bigint,
    number bigint not null,
    primary key (id)
);

create unique index accounts_number
    on accounts (number);

create table settings (
    name text collate "C" not null,
    value bytea not null,
    version bigint not null,
    due_at bigint,
    primary key (name)
);

create table api_keys (
    account uuid not null,
    live boolean not null,
    id uuid not null,
    kind text collate "C" not null,
    name text collate "C",
    hint text collate "C" not null,
    hash bytea not null,
    created_at bigint not null,
    last_used_at bigint,
    expires_at bigint,
    revoked_at bigint,
    version bigint not null,
    due_at bigint,
    number bigint not null,
    primary key (id, account, live)
) with (fillfactor = 90);

create unique index api_keys_number
    on api_keys (account, live, number);

create unique index api_keys_hash
    on api_keys (hash);

create table customers (
    account uuid not null,
    live boolean not null,
    id uuid not null,
    name text collate "C",
    email text collate "C",
    email_folded text collate "C",
    phone text collate "C",
    country text collate "C",
    reference text collate "C",
    metadata text collate "C",
    created_at bigint not null,
    updated_at bigint not null,
    version bigint not null,
    due_at bigint,
    number bigint not null,
    primary key (id, account, live)
) with (fillfactor = 90);

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
    account uuid not null,
    live boolean not null,
    id uuid not null,
    status text collate "C" not null,
    active boolean not null,
    url text collate "C" not null,
    title text collate "C" not null,
    description text collate "C",
    amount bigint,
    currency text collate "C" not null,
    country text collate "C" not null,
    methods text collate "C",
    reusable boolean not null,
    expires_at bigint,
    return_url text collate "C",
    reference text collate "C",
    metadata text collate "C",
    payments_count bigint not null,
    open_payments_count bigint not null,
    succeeded_payments_count bigint not null,
    collected_amount bigint not null,
    paid_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    version bigint not null,
    due_at bigint,
    number bigint not null,
    primary key (id, account, live)
) with (fillfactor = 80);

create unique index payment_links_number
    on payment_links (account, live, number);

create index payment_links_facets
    on payment_links (account, live, status, created_at, number, active, currency);

create index payment_links_reference
    on payment_links (account, live, reference, number)
    where reference is not null;

create table payments (
    account uuid not null,
    live boolean not null,
    id uuid not null,
    status text collate "C" not null,
    amount bigint not null,
    currency text collate "C" not null,
    fee_amount bigint not null,
    method text collate "C" not null,
    network text collate "C",
    reference text collate "C",
    country text collate "C" not null,
    phone text collate "C",
    otp text collate "C",
    customer uuid,
    payment_link uuid,
    description text collate "C",
    metadata text collate "C",
    return_url text collate "C",
    next_action text collate "C",
    failure text collate "C",
    cancellation_reason text collate "C",
    refunded_amount bigint not null,
    refunding_amount bigint not null,
    fee_returned_amount bigint not null,
    refunds_count bigint not null,
    pending_amount bigint not null,
    settled_at bigint,
    expires_at bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    processing_at bigint,
    succeeded_at bigint,
    failed_at bigint,
    cancelled_at bigint,
    expired_at bigint,
    available_at bigint,
    timeline_count bigint not null,
    connection text collate "C" not null,
    poll_at bigint,
    scenario text collate "C",
    simulated_at bigint,
    version bigint not null,
    due_at bigint,
    lane text collate "C" not null,
    number bigint not null,
    primary key (id, account, live)
) with (fillfactor = 80);

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
    account uuid not null,
    live boolean not null,
    id uuid not null,
    status text collate "C" not null,
    amount bigint not null,
    currency text collate "C" not null,
    fee_amount bigint not null,
    method text collate "C" not null,
    network text collate "C" not null,
    country text collate "C" not null,
    phone text collate "C" not null,
    recipient_name text collate "C",
    customer uuid,
    reference text collate "C",
    description text collate "C",
    metadata text collate "C",
    failure text collate "C",
    created_at bigint not null,
    updated_at bigint not null,
    processing_at bigint,
    succeeded_at bigint,
    failed_at bigint,
    connection text collate "C" not null,
    poll_at bigint,
    scenario text collate "C",
    simulated_at bigint,
    version bigint not null,
    due_at bigint,
    lane text collate "C" not null,
    number bigint not null,
    primary key (id, account, live)
) with (fillfactor = 80);

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
    account uuid not null,
    live boolean not null,
    id uuid not null,
    status text collate "C" not null,
    payment uuid not null,
    amount bigint not null,
    currency text collate "C" not null,
    fee_returned_amount bigint not null,
    reason text collate "C",
    description text collate "C",
    reference text collate "C",
    metadata text collate "C",
    failure text collate "C",
    created_at bigint not null,
    updated_at bigint not null,
    accepted_at bigint,
    succeeded_at bigint,
    failed_at bigint,
    connection text collate "C" not null,
    poll_at bigint,
    scenario text collate "C",
    simulated_at bigint,
    version bigint not null,
    due_at bigint,
    lane text collate "C" not null,
    number bigint not null,
    primary key (id, account, live)
) with (fillfactor = 80);

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
    account uuid not null,
    live boolean not null,
    payment uuid not null,
    number bigint not null,
    kind text collate "C" not null,
    status text collate "C" not null,
    actor text collate "C" not null,
    message text collate "C" not null,
    amount bigint,
    refund uuid,
    event uuid,
    created_at bigint not null,
    version bigint not null,
    due_at bigint,
    primary key (payment, number, account, live)
);

create table webhook_endpoints (
    account uuid not null,
    live boolean not null,
    id uuid not null,
    url text collate "C" not null,
    events text collate "C" not null,
    active boolean not null,
    description text collate "C",
    metadata text collate "C",
    secret bytea not null,
    previous_secret bytea,
    previous_secret_expires_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint,
    version bigint not null,
    due_at bigint,
    number bigint not null,
    primary key (id, account, live)
) with (fillfactor = 90);

create unique index webhook_endpoints_number
    on webhook_endpoints (account, live, number);

create index webhook_endpoints_present
    on webhook_endpoints (account, live, number)
    where deleted_at is null;

create table subscriptions (
    account uuid not null,
    live boolean not null,
    endpoints text collate "C" not null,
    version bigint not null,
    due_at bigint,
    primary key (account, live)
) with (fillfactor = 50);

create table events (
    account uuid not null,
    live boolean not null,
    id uuid not null,
    kind text collate "C" not null,
    created_at bigint not null,
    payload text collate "C" not null,
    test boolean not null,
    version bigint not null,
    due_at bigint,
    number bigint not null,
    primary key (id, account, live)
);

create unique index events_number
    on events (account, live, number);

create index events_facets
    on events (account, live, kind, created_at, number);

create table deliveries (
    account uuid not null,
    live boolean not null,
    id uuid not null,
    endpoint uuid not null,
    event uuid not null,
    event_kind text collate "C" not null,
    url text collate "C" not null,
    status text collate "C" not null,
    attempts text collate "C",
    next_attempt_at bigint,
    ended_by text collate "C",
    test boolean not null,
    created_at bigint not null,
    completed_at bigint,
    version bigint not null,
    due_at bigint,
    number bigint not null,
    primary key (id, account, live)
) with (fillfactor = 45);

create unique index deliveries_number
    on deliveries (account, live, number);

create index deliveries_event
    on deliveries (event, number);

create index deliveries_facets
    on deliveries (account, live, endpoint, created_at, number, event_kind);

-- Of each delivery that has not succeeded, or that is due, what it is looked for by: an index in
-- the shape of a table, so that the outcome of an attempt changes no index of the deliveries. Most
-- rows live for a few milliseconds, so what is left of them is cleared away early.
create table undelivered (
    account uuid not null,
    live boolean not null,
    id uuid not null,
    endpoint uuid not null,
    event_kind text collate "C" not null,
    status text collate "C" not null,
    created_at bigint not null,
    due_at bigint,
    number bigint not null,
    primary key (account, live, id)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000);

create index undelivered_failed
    on undelivered (account, live, endpoint, created_at, number, event_kind)
    where status = 'failed';

create index undelivered_due
    on undelivered (endpoint, due_at)
    where due_at is not null;

create table idempotency (
    account uuid not null,
    live boolean not null,
    key text collate "C" not null,
    fingerprint bytea not null,
    success text collate "C" not null,
    location text collate "C",
    body text collate "C",
    body_sealed bytea,
    created_at bigint not null,
    expires_at bigint not null,
    version bigint not null,
    due_at bigint,
    primary key (account, live, key)
);

create index idempotency_due
    on idempotency (due_at)
    where due_at is not null;

create table ledger_entries (
    account uuid not null,
    live boolean not null,
    number bigint not null,
    id uuid not null,
    transaction_id uuid not null,
    ledger_account text collate "C" not null,
    direction text collate "C" not null,
    amount bigint not null,
    currency text collate "C" not null,
    kind text collate "C" not null,
    source_kind text collate "C",
    source_id uuid,
    balance_after bigint not null,
    created_at bigint not null,
    primary key (account, live, number)
);

create index ledger_entries_facets
    on ledger_entries (account, live, ledger_account, kind, created_at, number, direction, currency);

create index ledger_entries_source
    on ledger_entries (source_id, number)
    where source_id is not null;

create index ledger_entries_transaction
    on ledger_entries (transaction_id, number);

create table ledger_balances (
    account uuid not null,
    live boolean not null,
    currency text collate "C" not null,
    ledger_account text collate "C" not null,
    amount bigint not null,
    primary key (account, live, currency, ledger_account)
) with (fillfactor = 50);

create table list_counters (
    account uuid not null,
    live boolean not null,
    accounts bigint not null,
    api_keys bigint not null,
    customers bigint not null,
    payment_links bigint not null,
    payments bigint not null,
    payouts bigint not null,
    refunds bigint not null,
    webhook_endpoints bigint not null,
    events bigint not null,
    deliveries bigint not null,
    ledger_entries bigint not null,
    primary key (account, live)
) with (fillfactor = 50);

-- Ends the statement of a batch that turns out not to be what was judged: a record has another
-- version, or an account would fall below its floor. The store then judges again.
create function cauri_refuse() returns boolean language plpgsql as $$
begin
    raise exception 'cauri: the batch must be judged again' using errcode = 'UC001';
end
$$;
