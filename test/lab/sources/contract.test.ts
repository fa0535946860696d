/** Each source keeps the same promises. */
import { describeSource } from '../../contracts/sources/source.suite.js'
import { kinds } from '../../contracts/sources/kinds.js'

for (const kind of kinds) describeSource(kind)
