import * as kinds from '../kinds.js'
import { section } from '../option.js'

const alarm = section('Alarm', ['ingest', 'replay', 'pull'])

export const alarmOptions = {
  onFailure: alarm(kinds.choice('nothing', 'incident').prefault('nothing'), {
    doc: 'open an incident at the service-management platform when the run fails, resolve it after a good run',
    label: 'nothing|incident',
  }),
  job: alarm(kinds.job().optional(), {
    doc: 'what tells the incidents of this job from others; if not set, it is made of command, index and inputs',
    label: 'name',
  }),
  incidentFields: alarm(kinds.incidentFields().optional(), {
    doc: 'more fields of the incident, as the platform stores them: assignment_group=ID^urgency=1',
    label: 'name=value^…',
  }),
  alarmHost: alarm(kinds.text().optional(), {
    doc: 'what the incident calls this machine; it is not told if not set',
    label: 'name',
  }),
  alarmTimeout: alarm(kinds.duration({ bare: false }).prefault('30s'), {
    doc: 'how long the alarm may take',
    label: 'duration',
  }),
  alarmUrl: alarm(kinds.webAddress().optional(), {
    doc: "another instance than --servicenow-url; needs credentials of the alarm's own",
    label: 'url',
    env: ['SERVICENOW_ALARM_INSTANCE_URL'],
    secret: 'url',
  }),
  alarmUsername: alarm(kinds.text().optional(), {
    doc: 'user name of the alarm; without credentials of its own it takes the others',
    label: 'name',
    env: ['SERVICENOW_ALARM_USERNAME'],
  }),
  alarmPassword: alarm(kinds.secret().optional(), {
    doc: 'its password; better in the environment or a file',
    label: 'password',
    env: ['SERVICENOW_ALARM_PASSWORD'],
    secret: 'value',
  }),
  alarmPasswordFile: alarm(kinds.text().optional(), { doc: 'file that holds the password', label: 'file' }),
  alarmClientId: alarm(kinds.text().optional(), {
    doc: 'client id of the alarm (OAuth): with a user name and password, or alone (client_credentials)',
    label: 'id',
    env: ['SERVICENOW_ALARM_CLIENT_ID'],
  }),
  alarmClientSecret: alarm(kinds.secret().optional(), {
    doc: 'its secret; better in the environment or a file',
    label: 'secret',
    env: ['SERVICENOW_ALARM_CLIENT_SECRET'],
    secret: 'value',
  }),
  alarmClientSecretFile: alarm(kinds.text().optional(), { doc: 'file that holds it', label: 'file' }),
}
