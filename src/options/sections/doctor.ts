import * as kinds from '../kinds.js'
import { section } from '../option.js'

const doctor = section('Doctor', ['doctor'])

export const doctorOptions = {
  nodes: doctor(kinds.secret().optional(), {
    doc: "URLs of the proxy's single nodes, with a comma: each is asked alone, and tells which address is refused",
    label: 'url,url',
    secret: 'url',
  }),
  noDirectCheck: doctor(kinds.flag().prefault(false), {
    doc: 'ask the cluster nothing without the proxy; else it is asked GET / there, without credentials',
    commands: ['doctor', 'filter'],
  }),
  writeCheck: doctor(kinds.flag().prefault(false), {
    doc: 'write, read and delete one document in --index',
  }),
  supportBundle: doctor(kinds.text().optional(), {
    doc: 'file for a report that may be given away: no secrets, no names of users, no documents',
    label: 'file',
  }),
}
