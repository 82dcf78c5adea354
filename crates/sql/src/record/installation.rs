//! Accounts, settings and API keys.

use cauri_core::{
    Account, AccountId, ApiKey, ApiKeyId, ApiKeyKind, KeyHash, Scope, Setting, Text, Timestamp,
};

use super::mapped;

mapped! { Account {
    id: AccountId => "id";
    created_at: Timestamp => "created_at";
}}

mapped! { Setting {
    name: String => "name";
    value: Vec<u8> => "value";
}}

mapped! { ApiKey {
    scope: Scope => "account" "live";
    id: ApiKeyId => "id";
    kind: ApiKeyKind => "kind";
    name: Option<Text<100>> => "name";
    hint: String => "hint";
    hash: KeyHash => "hash";
    created_at: Timestamp => "created_at";
    last_used_at: Option<Timestamp> => "last_used_at";
    expires_at: Option<Timestamp> => "expires_at";
    revoked_at: Option<Timestamp> => "revoked_at";
}}
