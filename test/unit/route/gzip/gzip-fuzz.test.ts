import { test } from 'vitest'
import { fuzzGzip } from '../../../support/random/gzip-fuzz.js'
import { rounds } from '../../../support/rounds.js'

// `npm run fuzz:gzip` asks for more, and for another seed each time.
const COUNT = Number(process.env.FUZZ_COUNT ?? rounds(200, 100_000))
const SEED = Number(process.env.FUZZ_SEED ?? 1)

test(`zlib reads ${COUNT} random bodies that the kernel compressed`, () => {
  fuzzGzip(SEED, COUNT)
})
