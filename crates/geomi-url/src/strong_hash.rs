//! The 64-bit hash under which a crawl remembers what strangers name.
//!
//! It is the first 64 bits of SHA-256. A stranger who knows the name of a page or
//! site has to try 2^64 names to find another one with its hash. Fast hashes such as
//! XXH3 give one away in seconds. SHA-256 was faster than BLAKE3 on inputs of the
//! length of a URL (47 to 104 ns against 89 to 168 ns for 40 to 120 bytes, on a
//! processor with SHA instructions).

use sha2::{Digest, Sha256};

/// 64-bit hash of a text: the first eight bytes of its SHA-256, big-endian.
///
/// ```
/// // printf abc | sha256sum | cut -c1-16
/// assert_eq!(geomi_url::strong_hash(b"abc"), 0xba78_16bf_8f01_cfea);
/// ```
pub fn strong_hash(text: &[u8]) -> u64 {
    first_64_bits(Sha256::digest(text).as_slice())
}

/// 64-bit hash of a text that means something else in each context: the first eight
/// bytes of the SHA-256 of `context`, big-endian, and `text`.
pub fn strong_hash_in(context: u64, text: &[u8]) -> u64 {
    let hasher = Sha256::new().chain_update(context.to_be_bytes());
    first_64_bits(hasher.chain_update(text).finalize().as_slice())
}

fn first_64_bits(digest: &[u8]) -> u64 {
    let (first, _) = digest.split_first_chunk().expect("SHA-256 has 32 bytes");
    u64::from_be_bytes(*first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CrawlUrl;

    #[test]
    fn hashes_are_the_start_of_sha_256() {
        let url = CrawlUrl::parse("http://www.example.com:8080/a?b=c").unwrap();
        assert_eq!(url.hash64().0, 0x6e05_980a_fdf0_268e);
        assert_eq!(url.site_hash().0, 0xc8b8_6a4e_c42d_7f05);
        assert_eq!(url.site().hash64(), url.site_hash());
        assert_eq!(strong_hash(b""), 0xe3b0_c442_98fc_1c14);
        let together = [&7_u64.to_be_bytes()[..], b"name"].concat();
        assert_eq!(strong_hash_in(7, b"name"), strong_hash(&together));
    }

    /// Their XXH3-64 is the same, which was the hash once.
    #[test]
    fn a_url_made_to_have_the_xxh3_hash_of_a_page_has_another_hash() {
        let page = CrawlUrl::parse("http://victim.test/important.html").unwrap();
        let made = CrawlUrl::parse("http://victim.test/p?x=xxxxxxxxx2menmsidaaaaaaaaz5mzp2bcaaaaaaaacftqzojcaaaaaaaau1hv33tbaaaaaaaaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx").unwrap();
        assert_eq!(page.site_hash(), made.site_hash());
        assert_ne!(page.hash64(), made.hash64());
    }

    #[test]
    fn a_host_made_to_have_the_xxh3_hash_of_a_site_has_another_hash() {
        let site = CrawlUrl::parse("http://www.some-victim.test/").unwrap();
        let made = CrawlUrl::parse("http://aaaaaaaaaaaaaaa.bjmjhz5caaaaaaa.ypngns3eaaaaaaa.c4diisnaaaaaaaa.sbtbgxtbaaaaaaa.xxxxxxxxxx.xxxxxx.xxxxx.some-attackers-name.test/").unwrap();
        assert_ne!(made.site_hash(), site.site_hash());
    }
}
