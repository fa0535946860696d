import { expect, test } from 'vitest'
import { linesOfHits } from '../../../../src/features/another-cluster/dump-lines.js'

test('a dump keeps index, id, routing and the bytes of the document, and nothing of the search', () => {
  const hits = [
    '{"_index":"a","_type":"_doc","_id":"1","_score":null,"_source":{ "n":1.0, "s":[1] } ,"sort":[7]}',
    '{"_id":"é\\"","_routing":"r","_index":"a","_source":{"_id":"inner","big":1234567890123456789},"sort":[8]}',
    '{"_index":"a","_id":"3","sort":[9]}',
  ]
  expect(linesOfHits(Buffer.from(`${hits.join('\n')}\n`)).toString()).toBe(
    [
      '{"_index":"a","_id":"1","_source":{ "n":1.0, "s":[1] }}',
      '{"_index":"a","_id":"é\\"","_routing":"r","_source":{"_id":"inner","big":1234567890123456789}}',
      '{"_index":"a","_id":"3"}',
      '',
    ].join('\n'),
  )
  expect(linesOfHits(Buffer.alloc(0))).toHaveLength(0)
})
