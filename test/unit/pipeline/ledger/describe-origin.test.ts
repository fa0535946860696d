import { expect, test } from 'vitest'
import { describeOrigin } from '../../../../src/pipeline/ledger/receipt.js'

const input = 'logs.ndjson'

test.each([
  [{ input, document: 1000, line: 1234, offset: 5 }, 'logs.ndjson, line 1,234'],
  [{ input, document: 1000 }, 'logs.ndjson, document 1,000'],
  [{ input, offset: 67_108_901 }, 'logs.ndjson, byte 67108901'],
  [{ input, offset: 0 }, 'logs.ndjson, byte 0'],
  [{ input, document: 9, member: 'a.csv', element: 4 }, 'logs.ndjson/a.csv, document 4'],
])('%j is shown as people look for it', (origin, shown) => {
  expect(describeOrigin(origin)).toBe(shown)
})
