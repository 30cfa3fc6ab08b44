//! Playing faults on the socket.
//!
//! Every fault ends with the connection. Waiting is always for the client to
//! leave, under a bound.

use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Fault;
use crate::page::gzip;

const BIG_BYTES: usize = 64 << 20;
const BLOCK_BYTES: usize = 64 << 10;
const FLOOD_LINES: u32 = 20_000;
const DRIP_EVERY: Duration = Duration::from_millis(100);
const BODY: &[u8] = b"<!DOCTYPE html><title>Fault</title>\n\
    <p>This page is served badly on purpose, and what you read may be half of it.</p>\n\
    <p><a href=\"/\">Back to the front page</a> for those who got so far.</p>\n";

pub(crate) async fn play(
    fault: Fault,
    stream: &mut TcpStream,
    silence_max: Duration,
) -> io::Result<()> {
    let half = &BODY[..BODY.len() / 2];
    let known_length = format!("Content-Length: {}", BODY.len());
    match fault {
        Fault::ResetBeforeHeader => stream.set_zero_linger(),
        Fault::CloseWithoutByte => Ok(()),
        Fault::ShortHeader => stream.write_all(b"HTTP/1.").await,
        Fault::NotHttp => stream.write_all(b"220 mail.test ESMTP ready\r\n").await,
        Fault::SilentBeforeHeader => silence(stream, silence_max).await,
        Fault::SilentInHeader => {
            let start = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Half: th";
            stream.write_all(start).await?;
            silence(stream, silence_max).await
        }
        Fault::ResetInBody => {
            send(stream, &known_length, half).await?;
            stream.set_zero_linger()
        }
        Fault::ShortBody => send(stream, &known_length, half).await,
        Fault::SilentInBody => {
            send(stream, &known_length, half).await?;
            silence(stream, silence_max).await
        }
        Fault::DrippingBody => {
            send(stream, "Content-Length: 1000000", b"<!DOCTYPE html>").await?;
            drip(stream, silence_max).await
        }
        Fault::EndlessBody => {
            send(stream, "Transfer-Encoding: chunked", b"").await?;
            let mut chunk = format!("{BLOCK_BYTES:x}\r\n").into_bytes();
            chunk.extend_from_slice(&block());
            chunk.extend_from_slice(b"\r\n");
            repeat(stream, &chunk, BIG_BYTES / BLOCK_BYTES).await
        }
        Fault::BrokenChunks => {
            let framing = "Transfer-Encoding: chunked";
            send(
                stream,
                framing,
                b"10\r\n<!DOCTYPE html>\n\r\nnonsense\r\n<p>",
            )
            .await
        }
        Fault::HeaderFlood => flood(stream).await,
        Fault::OversizedBody => {
            send(stream, &format!("Content-Length: {BIG_BYTES}"), b"").await?;
            repeat(stream, &block(), BIG_BYTES / BLOCK_BYTES).await
        }
        Fault::GzipBomb => send_gzip(stream, bomb()).await,
        Fault::TruncatedGzip => {
            let whole = gzip(BODY);
            send_gzip(stream, &whole[..whole.len() / 2]).await
        }
    }
}

async fn send(stream: &mut TcpStream, framing: &str, body: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(256 + body.len());
    write!(
        bytes,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{framing}\r\nConnection: close\r\n\r\n"
    )?;
    bytes.extend_from_slice(body);
    stream.write_all(&bytes).await
}

async fn send_gzip(stream: &mut TcpStream, body: &[u8]) -> io::Result<()> {
    let framing = format!("Content-Encoding: gzip\r\nContent-Length: {}", body.len());
    send(stream, &framing, body).await
}

async fn repeat(stream: &mut TcpStream, bytes: &[u8], times: usize) -> io::Result<()> {
    for _ in 0..times {
        stream.write_all(bytes).await?;
    }
    Ok(())
}

async fn flood(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
    for line in 0..FLOOD_LINES {
        write!(head, "X-Flood-{line}: water water everywhere\r\n")?;
    }
    write!(head, "Content-Length: {}\r\n\r\n", BODY.len())?;
    head.extend_from_slice(BODY);
    stream.write_all(&head).await
}

/// Waits until the client leaves, at most `max`.
async fn silence(stream: &mut TcpStream, max: Duration) -> io::Result<()> {
    match timeout(max, client_leaves(stream)).await {
        Ok(left) => left,
        Err(_) => Ok(()),
    }
}

/// One byte now and then until the client leaves or `max` has passed.
async fn drip(stream: &mut TcpStream, max: Duration) -> io::Result<()> {
    let drops = (max.as_millis() / DRIP_EVERY.as_millis()).max(1);
    for _ in 0..drops {
        match timeout(DRIP_EVERY, client_leaves(stream)).await {
            Ok(left) => return left,
            Err(_) => stream.write_all(b".").await?,
        }
    }
    Ok(())
}

async fn client_leaves(stream: &mut TcpStream) -> io::Result<()> {
    let mut ignored = [0; 512];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}

fn block() -> Vec<u8> {
    b"All work and no play makes a long page. "
        .iter()
        .copied()
        .cycle()
        .take(BLOCK_BYTES)
        .collect()
}

/// Made once: it takes a tenth of a second.
fn bomb() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| gzip(&vec![b' '; BIG_BYTES]))
}
