import * as kinds from '../kinds.js'
import { section } from '../option.js'

const servicenow = section('Service-management platform', ['ingest', 'pull', 'login', 'doctor'])

export const servicenowOptions = {
  servicenowUrl: servicenow(kinds.webAddress().optional(), {
    doc: "the instance's address, as in https://my-instance.example",
    label: 'url',
    env: ['SERVICENOW_INSTANCE_URL'],
    secret: 'url',
  }),
  servicenowUsername: servicenow(kinds.text().optional(), {
    doc: 'user name at the instance',
    label: 'name',
    env: ['SERVICENOW_USERNAME'],
  }),
  servicenowPassword: servicenow(kinds.secret().optional(), {
    doc: 'its password; better in the environment or a file',
    label: 'password',
    env: ['SERVICENOW_PASSWORD'],
    secret: 'value',
  }),
  servicenowPasswordFile: servicenow(kinds.text().optional(), { doc: 'file that holds the password', label: 'file' }),
  servicenowClientId: servicenow(kinds.text().optional(), {
    doc: "client id of the instance's application registry (OAuth)",
    label: 'id',
    env: ['SERVICENOW_CLIENT_ID'],
  }),
  servicenowClientSecret: servicenow(kinds.secret().optional(), {
    doc: 'its secret; better in the environment or a file',
    label: 'secret',
    env: ['SERVICENOW_CLIENT_SECRET'],
    secret: 'value',
  }),
  servicenowClientSecretFile: servicenow(kinds.text().optional(), { doc: 'file that holds it', label: 'file' }),
  servicenowRefreshToken: servicenow(kinds.secret().optional(), {
    doc: 'refresh token; better in the environment or a file',
    label: 'token',
    env: ['SERVICENOW_REFRESH_TOKEN'],
    secret: 'value',
  }),
  servicenowRefreshTokenFile: servicenow(kinds.text().optional(), { doc: 'file that holds it', label: 'file' }),
  servicenowGrant: servicenow(
    kinds.choice('basic', 'password', 'client_credentials', 'refresh_token', 'authorization_code').optional(),
    {
      doc: 'how to prove who asks; if not set, what the other options allow, OAuth before Basic',
      label: 'basic|password|client_credentials|refresh_token|authorization_code',
      env: ['SERVICENOW_GRANT'],
    },
  ),
  servicenowCa: servicenow(kinds.text().optional(), {
    doc: "PEM file of the CA that signed the instance's certificate",
    label: 'file',
  }),
  tokenFile: servicenow(kinds.text().optional(), {
    doc: 'where tokens are kept, readable by you alone; default: in the state folder',
    label: 'file',
  }),
  query: servicenow(kinds.text().optional(), {
    doc: 'which rows of the table, as an encoded query: active=true^priority<=2',
    label: 'query',
    commands: ['ingest', 'pull'],
  }),
  fields: servicenow(kinds.text().optional(), {
    doc: 'which fields, with commas; all if not set',
    label: 'a,b',
    commands: ['ingest', 'pull'],
  }),
  displayValue: servicenow(kinds.choice('false', 'true', 'all').prefault('false'), {
    doc: 'fields as they are stored, as they are displayed, or both',
    label: 'false|true|all',
    commands: ['ingest', 'pull'],
  }),
  pageSize: servicenow(kinds.whole({ min: 1, max: 10_000 }).prefault(1000), {
    doc: 'rows of one request; halved where the instance gives up on a page',
    label: 'count',
    commands: ['ingest', 'pull'],
  }),
  output: servicenow(kinds.writtenFile('and rows go to stdout without this').optional(), {
    doc: 'file for the rows, replaced once all are there; killed, the same command goes on with it',
    label: 'file',
    commands: ['pull'],
  }),
  deletions: servicenow(kinds.choice('keep', 'audit', 'reconcile').prefault('keep'), {
    doc: 'rows that were deleted: keep their documents, delete those that the audit table names, or compare with the whole table',
    label: 'keep|audit|reconcile',
    commands: ['ingest'],
  }),
  maxDeleted: servicenow(kinds.rejectionLimit().optional(), {
    doc: 'reconcile: delete nothing where more would be, a count or a share of the index; default 10%',
    label: 'limit',
    commands: ['ingest'],
  }),
  reconcileEvery: servicenow(kinds.duration({ bare: false }).optional(), {
    doc: 'reconcile: compare no more often than this; default: each run',
    label: 'duration',
    commands: ['ingest'],
  }),
}
