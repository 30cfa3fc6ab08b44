//! The key that signs requests, read from its file.

use geomi_fetch::Signer;

/// A file longer than this holds no key.
const KEY_BYTES_MAX: u64 = 64 << 10;

/// Reads a key in PEM (PKCS #8) or as a JWK. What is wrong is told without
/// repeating what the file holds.
pub(super) fn signer(path: &str, agent: Option<&str>) -> Result<Signer, String> {
    let text = geomi_store::read_small_text(path.as_ref(), KEY_BYTES_MAX)
        .map_err(|error| format!("cannot read {path}: {error}"))?;
    let wrong = |what: &str| format!("{path} is no key to sign with: {what}");
    if !text.trim_start().starts_with('{') {
        return Signer::from_pem(text.as_bytes(), agent).map_err(wrong);
    }
    let jwk: serde_json::Value =
        serde_json::from_str(&text).map_err(|_| wrong("it is not JSON"))?;
    let part = |name: &str| jwk[name].as_str().unwrap_or_default();
    if (part("kty"), part("crv")) != ("OKP", "Ed25519") {
        return Err(wrong("a JWK must have kty OKP and crv Ed25519"));
    }
    Signer::from_jwk(part("d"), part("x"), agent).map_err(wrong)
}
