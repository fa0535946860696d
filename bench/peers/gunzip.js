// node gunzip.js FILE: decodes a file and drops the result: what Node's own gunzip takes, with nothing behind it.
import { createReadStream } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

const BYTES = 1 << 20
const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
await pipeline(createReadStream(process.argv[2], { highWaterMark: BYTES }), createGunzip({ chunkSize: BYTES }), nowhere)
