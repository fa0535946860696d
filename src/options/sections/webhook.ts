import * as kinds from '../kinds.js'
import { section } from '../option.js'

const webhook = section('Webhook receiver', ['serve'])

export const webhookOptions = {
  listen: webhook(kinds.text().prefault('127.0.0.1:8080'), {
    doc: 'address and port to accept requests on; 0.0.0.0 for all addresses of this machine',
    label: 'address:port',
  }),
  serveCert: webhook(kinds.text().optional(), {
    doc: 'PEM file of the certificate that callers see, with those between it and its authority: accept https instead of http',
    label: 'file',
  }),
  serveKey: webhook(kinds.text().optional(), { doc: "PEM file of that certificate's key", label: 'file' }),
  servePath: webhook(kinds.text().prefault('/'), { doc: 'path that documents are posted to', label: 'path' }),
  serveToken: webhook(kinds.secret().optional(), {
    doc: 'bearer token that callers have to bring; better in the environment or a file',
    label: 'token',
    secret: 'value',
  }),
  serveTokenFile: webhook(kinds.text().optional(), { doc: 'file that holds the token', label: 'file' }),
  noToken: webhook(kinds.flag().prefault(false), {
    doc: 'accept requests without a token; on a loopback address alone',
  }),
  maxBody: webhook(kinds.size({ min: 1000, max: 100_000_000 }).prefault('10_000_000'), {
    doc: 'largest request, also once it is decompressed',
    label: 'size',
  }),
  acceptAnyway: webhook(kinds.flag().prefault(false), {
    doc: 'accept documents also where the way to the cluster is closed at the start',
  }),
}
