import * as kinds from '../kinds.js'
import { section } from '../option.js'

const guarded = section('Guarded load', ['ingest'])

export const guardedOptions = {
  swapAlias: guarded(kinds.text().optional(), {
    doc: 'instead of --index: load into a fresh index, check it, then switch this alias to it',
    label: 'name',
  }),
  indexBody: guarded(kinds.text().optional(), {
    doc: 'JSON, or a file of it, that the index is made with, as PUT /INDEX takes it; default: like the index before',
    label: 'file|json',
  }),
  checkQuery: guarded(kinds.text().optional(), {
    doc: 'JSON, or a file of it, as in {"query":{"exists":{"field":"sku"}}}: has to match before the alias is switched',
    label: 'file|json',
  }),
  checkHits: guarded(kinds.whole({ min: 1, max: Number.MAX_SAFE_INTEGER }).optional(), {
    doc: 'documents that it has to match at least; 1 if not set',
    label: 'count',
  }),
}
