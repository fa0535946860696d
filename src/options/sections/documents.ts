import * as kinds from '../kinds.js'
import { section } from '../option.js'

const documents = section('Documents', ['ingest'])

export const documentsOptions = {
  index: documents(kinds.text().optional(), {
    doc: 'index, alias or data stream to load into',
    label: 'name',
    commands: ['ingest', 'replay', 'doctor', 'serve'],
  }),
  op: documents(kinds.choice('create', 'index').prefault('create'), {
    doc: 'create never overwrites a document, index does',
    label: 'create|index',
    commands: ['ingest', 'doctor', 'serve'],
  }),
  ids: documents(kinds.choice('run', 'field', 'cluster').prefault('run'), {
    doc: 'document ids: made for the run, taken from a field, or given by the cluster',
    label: 'run|field|cluster',
    commands: ['ingest', 'serve'],
  }),
  idField: documents(kinds.text().optional(), {
    doc: 'the field, with --ids field',
    label: 'field',
    commands: ['ingest', 'serve'],
  }),
  routingField: documents(kinds.text().optional(), {
    doc: 'field whose value routes the document',
    label: 'field',
    commands: ['ingest', 'serve'],
  }),
  pipeline: documents(kinds.text().optional(), {
    doc: 'ingest pipeline of the cluster',
    label: 'name',
    commands: ['ingest', 'replay', 'serve'],
  }),
  format: documents(kinds.choice('auto', 'ndjson', 'json').prefault('auto'), {
    doc: 'format of the inputs',
    label: 'auto|ndjson|json',
  }),
  pick: documents(kinds.text().optional(), {
    doc: 'path of the array inside a JSON document, as in hits.items',
    label: 'path',
  }),
  onConflict: documents(kinds.choice('reject', 'skip').prefault('reject'), {
    doc: 'what becomes of a document whose id of your own exists already',
    label: 'reject|skip',
    commands: ['ingest', 'replay', 'serve'],
  }),
  deadLetters: documents(kinds.writtenFile().optional(), {
    doc: 'file for rejected documents',
    label: 'file',
    commands: ['ingest', 'replay', 'serve'],
  }),
  maxRejected: documents(kinds.rejectionLimit().optional(), {
    doc: 'stop when more are rejected: a count, or a share as in 1%',
    label: 'limit',
    commands: ['ingest', 'replay'],
  }),
  dryRun: documents(kinds.flag().prefault(false), {
    doc: 'read and check everything, send no document; undo: delete none',
    commands: ['ingest', 'replay', 'undo'],
  }),
}
