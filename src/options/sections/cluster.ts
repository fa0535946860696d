import * as kinds from '../kinds.js'
import { section, toCluster } from '../option.js'

const cluster = section('Cluster', toCluster)

export const clusterOptions = {
  url: cluster(kinds.text().optional(), {
    doc: "the cluster's endpoint, as in https://my.es.eu-west-1.aws.example:9243",
    label: 'url',
    env: ['ELASTICSEARCH_URL'],
    secret: 'url',
  }),
  cloudId: cluster(kinds.text().optional(), {
    doc: 'the cloud id, instead of --url',
    label: 'id',
    env: ['ELASTICSEARCH_CLOUD_ID'],
  }),
  apiKey: cluster(kinds.secret().optional(), {
    doc: 'API key, encoded; better in the environment or a file',
    label: 'key',
    env: ['ELASTICSEARCH_API_KEY'],
    secret: 'value',
  }),
  apiKeyFile: cluster(kinds.text().optional(), { doc: 'file that holds the API key', label: 'file' }),
  username: cluster(kinds.text().optional(), {
    doc: 'user name, instead of an API key',
    label: 'name',
    env: ['ELASTICSEARCH_USERNAME'],
  }),
  password: cluster(kinds.secret().optional(), {
    doc: 'its password; better in the environment or a file',
    label: 'password',
    env: ['ELASTICSEARCH_PASSWORD'],
    secret: 'value',
  }),
  passwordFile: cluster(kinds.text().optional(), { doc: 'file that holds the password', label: 'file' }),
  ca: cluster(kinds.text().optional(), {
    doc: "PEM file of the CA that signed the cluster's certificate",
    label: 'file',
  }),
  caFingerprint: cluster(kinds.fingerprint().optional(), {
    doc: "SHA-256 of a certificate in the cluster's chain",
    label: 'sha256',
  }),
  cert: cluster(kinds.text().optional(), { doc: 'PEM file of a client certificate', label: 'file' }),
  key: cluster(kinds.text().optional(), {
    doc: "PEM file of the client certificate's key",
    label: 'file',
  }),
  allowPlaintext: cluster(kinds.flag().prefault(false), {
    doc: 'send credentials over plain http to another machine',
  }),
}
