{{/* The name of what belongs to the service; agents add "-agent". */}}
{{- define "vedette.name" -}}
{{- if contains "vedette" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-vedette" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "vedette.agentName" -}}
{{ include "vedette.name" . }}-agent
{{- end }}

{{/* Labels that select pods: never change them. Takes a list: the root, the part's name. */}}
{{- define "vedette.selector" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end }}

{{/* Takes a list: the root, the name of the part, the component. */}}
{{- define "vedette.labels" -}}
{{ include "vedette.selector" . }}
app.kubernetes.io/component: {{ index . 2 }}
app.kubernetes.io/part-of: vedette
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end }}

{{/*
The value of a variable. YAML reads on and off as flags, and Helm large numbers as floats: 1e+06
would be no whole number.
*/}}
{{- define "vedette.variable" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}{{ else if kindIs "float64" . }}{{ printf "%.0f" . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/*
Variables as the data of a ConfigMap. Takes a list: the plain variables of a part, and the chart's own. The plain ones replace
those, also with 0, which `merge` would take for unset.
*/}}
{{- define "vedette.variables" -}}
{{- $variables := deepCopy (index . 1) }}
{{- range $key, $value := index . 0 }}
{{- $_ := set $variables $key $value }}
{{- end }}
{{- range $key, $value := $variables }}
{{ $key }}: {{ include "vedette.variable" $value | quote }}
{{- end }}
{{- end }}

{{/* How long a process may finish its work after SIGTERM, in seconds. Takes the values of a part. */}}
{{- define "vedette.graceSeconds" -}}
{{- hasKey .env "SHUTDOWN_GRACE_SECONDS" | ternary .env.SHUTDOWN_GRACE_SECONDS .shutdownGraceSeconds | int64 }}
{{- end }}

{{/* The variables of the service that are not secret, as the data of a ConfigMap. */}}
{{- define "vedette.serviceVariables" -}}
{{- $service := .Values.service }}
{{- $config := dict
  "S3_BUCKET" $service.s3Bucket
  "SHUTDOWN_GRACE_SECONDS" $service.shutdownGraceSeconds }}
{{- if $service.ingress.enabled }}
{{- $_ := set $config "PUBLIC_URL" (printf "https://%s" $service.ingress.host) }}
{{- end }}
{{- include "vedette.variables" (list $service.env $config) }}
{{- end }}

{{/* Takes a list: the root, the image. */}}
{{- define "vedette.image" -}}
{{ (index . 1).repository }}:{{ (index . 1).tag | default (index . 0).Chart.AppVersion }}
{{- end }}

{{/*
A variable with a secret value. Takes a list: the values of the service, the name of the variable, and whether pods need it.
*/}}
{{- define "vedette.secretVariable" -}}
{{- $service := index . 0 }}
{{- $name := index . 1 }}
{{- /* Values of an earlier release (--reuse-values) have none. */}}
{{- $given := get ($service.secretRefs | default dict) $name }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      {{- if $given }}
      name: {{ $given.name }}
      key: {{ $given.key | default $name }}
      {{- else }}
      name: {{ $service.secret }}
      key: {{ $name }}
      {{- if not (index . 2) }}
      optional: true
      {{- end }}
      {{- end }}
{{- end }}

{{/* The variables of the service with secret values. Takes a list: its values, and whether its database is embedded. */}}
{{- define "vedette.secretVariables" -}}
{{- $service := index . 0 }}
{{- $isEmbedded := index . 1 }}
{{- if not $isEmbedded }}
{{- include "vedette.secretVariable" (list $service "DATABASE_URL" true) }}
{{- end }}
{{- /* Without it, an embedded database has a key in its volume. */}}
{{- include "vedette.secretVariable" (list $service "ENCRYPTION_KEY" (not $isEmbedded)) }}
{{- range list "DATABASE_DIRECT_URL" "FIRST_API_KEY" "HEARTBEAT_URL" "OIDC_CLIENT_SECRET" "S3_ACCESS_KEY_ID" "S3_SECRET_ACCESS_KEY" "SMTP_URL" "SMS_GATEWAY_AUTHORIZATION" "RCA_API_KEY" }}
{{- include "vedette.secretVariable" (list $service . false) }}
{{- end }}
{{- end }}

{{/*
Takes a list: the labels of the chart, and the values of a part. The labels of the chart win: they select the pods.
*/}}
{{- define "vedette.podLabels" -}}
{{- merge (index . 0 | fromYaml) ((index . 1).podLabels | default dict) | toYaml }}
{{- end }}

{{/*
Takes a list: a security context of the chart as YAML, and the fields of a user. These win, also if they are false, 0 or empty;
null removes a field. mergeOverwrite would ignore such values.
*/}}
{{- define "vedette.security" -}}
{{- $context := index . 0 | fromYaml }}
{{- range $field, $value := index . 1 }}
{{- $before := get $context $field }}
{{- if kindIs "invalid" $value }}
{{- $_ := unset $context $field }}
{{- else if and (kindIs "map" $value) (kindIs "map" $before) }}
{{- $_ := set $context $field (include "vedette.security" (list (toYaml $before) $value) | fromYaml) }}
{{- else }}
{{- $_ := set $context $field $value }}
{{- end }}
{{- end }}
{{- toYaml $context }}
{{- end }}

{{- define "vedette.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "vedette.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end }}

{{- define "vedette.agentPodSecurity" -}}
{{ include "vedette.podSecurity" . }}
sysctls:
  - name: net.ipv4.ping_group_range
    value: "10001 10001"
{{- end }}

{{/* Takes the values of the agent. */}}
{{- define "vedette.agentContainerSecurity" -}}
{{- if .evidence -}}
allowPrivilegeEscalation: true
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
  add:
    - NET_RAW
{{- else -}}
{{ include "vedette.containerSecurity" . }}
{{- end }}
{{- end }}

{{/*
Takes a list: what selects the pods, and the constraints of a user. Without a list (values of an earlier release have none)
pods are spread over nodes and zones. A constraint without a labelSelector would count no pods.
*/}}
{{- define "vedette.spread" -}}
{{- $selector := dict "matchLabels" (index . 0 | fromYaml) }}
{{- $constraints := list }}
{{- if kindIs "slice" (index . 1) }}
{{- range index . 1 }}
{{- $constraints = append $constraints (hasKey . "labelSelector" | ternary . (set (deepCopy .) "labelSelector" $selector)) }}
{{- end }}
{{- else }}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
{{- $constraints = append $constraints (dict "topologyKey" . "maxSkew" 1 "whenUnsatisfiable" "ScheduleAnyway" "labelSelector" $selector) }}
{{- end }}
{{- end }}
{{- toYaml $constraints }}
{{- end }}

{{/* Takes the values of a part: where its pods run, and how their image is pulled. Trim it. */}}
{{- define "vedette.placement" -}}
{{- with .imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A claim for the volume "data". Takes a list: its size, its storage class. */}}
{{- define "vedette.dataClaim" -}}
- metadata:
    name: data
  spec:
    accessModes:
      - ReadWriteOnce
    {{- with index . 1 }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests:
        storage: {{ index . 0 }}
{{- end }}

{{/* Labels by which the Prometheus operator selects its objects. */}}
{{- define "vedette.monitorLabels" -}}
{{- with .Values.monitorLabels }}{{ toYaml . }}{{ end }}
{{- end }}

{{- define "vedette.dnsEgress" -}}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: kube-system
    - ipBlock:
        cidr: 169.254.20.10/32
  ports:
    - protocol: UDP
      port: 53
    - protocol: TCP
      port: 53
{{- end }}

{{- define "vedette.serviceUrl" -}}
{{- if .Values.agent.serviceUrl }}{{ .Values.agent.serviceUrl }}
{{- else if .Values.service.enabled }}http://{{ include "vedette.name" . }}:8080
{{- else }}{{ fail "set agent.serviceUrl to the address of your service, or service.enabled=true" }}
{{- end }}
{{- end }}
