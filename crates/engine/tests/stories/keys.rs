//! API keys that have come to their end.

use cauri::{ApiKeyKind, AuthError, Error, Refused};

use crate::support::{Story, refused};

#[tokio::test]
async fn a_key_that_has_ended_is_not_rolled_into_one_that_lives() {
    let story = Story::begin().await;
    let scope = story.me.scope;
    let key = story.engine.create_key(scope, ApiKeyKind::Secret, None, None).await.unwrap().key;
    story.engine.revoke_key(scope, key.id).await.unwrap();
    let error = story.engine.roll_key(scope, key.id, 0).await.unwrap_err();
    assert_eq!(refused(&error), &Refused::NotFound("API key"));

    let end = Some(story.engine.now().plus_seconds(60));
    let key = story.engine.create_key(scope, ApiKeyKind::Secret, None, end).await.unwrap().key;
    story.wait(60_000).await;
    let error = story.engine.roll_key(scope, key.id, 0).await.unwrap_err();
    assert_eq!(refused(&error), &Refused::NotFound("API key"));
}

#[tokio::test]
async fn a_key_that_has_expired_is_not_noted_as_used() {
    let story = Story::begin().await;
    let scope = story.me.scope;
    let end = Some(story.engine.now().plus_seconds(60));
    let new = story.engine.create_key(scope, ApiKeyKind::Secret, None, end).await.unwrap();
    story.wait(60_000).await;
    let answer = story.engine.authenticate(new.clear.reveal()).await;
    assert!(matches!(answer, Err(Error::Unauthenticated(AuthError::Expired))), "{answer:?}");
    let keys = story.engine.list_keys(scope.account).await.unwrap();
    let found = keys.into_iter().find(|key| key.id == new.key.id).unwrap();
    assert_eq!(found.last_used_at, None);
}
