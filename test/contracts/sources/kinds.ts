import { files } from './files.js'
import { asyncIterator, generator, objectStream } from './iterables.js'
import { bucketObjects, streamedObjects, webObjects } from './objects.js'
import type { SourceKind } from './source-world.js'
import { byteStream, stdin, webByteStream } from './streams.js'
import { tables } from './tables.js'

/** All sources. A new one is a row. */
export const kinds: readonly SourceKind[] = [
  files,
  stdin,
  byteStream,
  webByteStream,
  generator,
  asyncIterator,
  objectStream,
  webObjects,
  streamedObjects,
  bucketObjects,
  tables,
]
