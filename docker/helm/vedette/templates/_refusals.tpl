{{/* Values that a release refuses. Types and ranges of single values: values.schema.json. */}}

{{/*
Refuses secrets among plain variables. Takes a list: "agent" or "service", its plain variables, the names of secrets, and where
those belong.
*/}}
{{- define "vedette.noSecrets" -}}
{{- $part := index . 0 }}
{{- $env := index . 1 }}
{{- $where := index . 3 }}
{{- range $key := index . 2 }}
{{- if hasKey $env $key }}
{{- fail (printf "put %s into %s: %s.env makes a ConfigMap, which is no place for secrets" $key $where $part) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Takes a list: "agent" or "service", and its plain variables. */}}
{{- define "vedette.noProxyPassword" -}}
{{- $part := index . 0 }}
{{- $env := index . 1 }}
{{- range $key := list "HTTPS_PROXY" "HTTP_PROXY" "https_proxy" "http_proxy" }}
{{- if contains "@" (get $env $key | toString) }}
{{- fail (printf "put %s into a secret of %s.envFrom: it has credentials, and %s.env makes a ConfigMap" $key $part $part) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Refuses plain variables that have no effect or that contradict the pod. Takes a list: "agent" or "service", its values, and the
reasons by variable.
*/}}
{{- define "vedette.noOwnVariables" -}}
{{- $part := index . 0 }}
{{- $values := index . 1 }}
{{- $reasons := index . 2 }}
{{- if $values.caSecret }}
{{- $_ := set $reasons "NODE_EXTRA_CA_CERTS" (printf "%s.caSecret already names the root certificates" $part) }}
{{- end }}
{{- range $name, $reason := $reasons }}
{{- if hasKey $values.env $name }}
{{- fail (printf "%s: leave out %s.env.%s" $reason $part $name) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Refuses volumes with a name that the pod already has, and mounts of no volume. Takes a list: "agent" or "service", its values,
and the names of the chart's volumes.
*/}}
{{- define "vedette.volumesFit" -}}
{{- $part := index . 0 }}
{{- $values := index . 1 }}
{{- $names := index . 2 }}
{{- if $values.caSecret }}
{{- $names = append $names "ca" }}
{{- end }}
{{- range $values.extraVolumes }}
{{- if has .name $names }}
{{- fail (printf "%s.extraVolumes has a volume %s, but the pod already has one of this name: choose another name" $part .name) }}
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- range $values.extraVolumeMounts }}
{{- if not (has .name $names) }}
{{- fail (printf "%s.extraVolumeMounts mounts %s, which is no volume of the pod: add it to %s.extraVolumes, or mount one of %s" $part .name $part (join ", " $names)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The bytes of a quantity such as 1Gi, whose units the schema limits to these. */}}
{{- define "vedette.bytes" -}}
{{- $unit := regexFind "[A-Za-z]*$" . }}
{{- $bytes := 1.0 }}
{{- range $index, $name := list "k" "M" "G" "T" "P" "E" }}
{{- range $_ := until (add1 $index | int) }}
{{- if eq $unit $name }}{{ $bytes = mulf $bytes 1000 }}{{ end }}
{{- if eq $unit (printf "%si" (upper $name)) }}{{ $bytes = mulf $bytes 1024 }}{{ end }}
{{- end }}
{{- end }}
{{- printf "%.0f" (mulf (trimSuffix $unit . | float64) $bytes) }}
{{- end }}

{{- define "vedette.agentRefusals" -}}
{{- $agent := .Values.agent }}
{{- include "vedette.noSecrets" (list "agent" $agent.env (list "API_KEY") (printf "the secret %s" $agent.keySecret)) }}
{{- include "vedette.noSecrets" (list "agent" $agent.env (list "OTEL_EXPORTER_OTLP_HEADERS") "a secret of agent.envFrom") }}
{{- include "vedette.noProxyPassword" (list "agent" $agent.env) }}
{{- if hasKey $agent.env "CHECKS_FILE" }}
{{- fail "agents of this chart take their checks from a service: leave out agent.env.CHECKS_FILE" }}
{{- end }}
{{- include "vedette.noOwnVariables" (list "agent" $agent (dict
  "AGENT_HEALTH_HOST" "the probes of a pod go to the address of the pod"
  "AGENT_HEALTH_PORT" "probes and Prometheus use port 8081 of the pod"
  "API_KEY_FILE" (printf "the location's key is the entry API_KEY of the secret %s, which agent.keySecret names" $agent.keySecret)
  "VARIABLES_DIR" (printf "variables of checks are entries of the secret %s, which agent.variablesSecret names" $agent.variablesSecret)
  "DATA_DIR" "the data of an agent is at /data, in an emptyDir or, with agent.persistence.enabled=true, in a volume of its own")) }}
{{- include "vedette.volumesFit" (list "agent" $agent (list "data" "key" "variables")) }}
{{- $spoolMib := get $agent.env "SPOOL_MAX_MIB" | default $agent.spoolMaxMib | int64 }}
{{- if lt (include "vedette.bytes" $agent.dataSize | float64) (mulf (add $spoolMib 128) 1048576) }}
{{- fail (printf "agent.dataSize (%s) must be at least 128 MiB more than agent.spoolMaxMib (%d MiB): set agent.dataSize to %dMi or more, or agent.spoolMaxMib to less (existing volumes keep their size)" $agent.dataSize $spoolMib (add $spoolMib 128)) }}
{{- end }}
{{- $concurrency := get $agent.env "JOB_CONCURRENCY" | default $agent.jobConcurrency | int64 }}
{{- if and $agent.autoscaling.enabled (ge (int64 $agent.autoscaling.running) $concurrency) }}
{{- fail (printf "agent.autoscaling.running (%d) must be less than agent.jobConcurrency (%d): agents never run more, so none would be added" (int64 $agent.autoscaling.running) $concurrency) }}
{{- end }}
{{- end }}

{{- define "vedette.serviceRefusals" -}}
{{- $service := .Values.service }}
{{- if not (or $service.persistence.enabled $service.s3Bucket) }}
{{- fail "set service.s3Bucket to the bucket in which artifacts are kept, or service.persistence.enabled=true for one replica with a volume" }}
{{- end }}
{{- if and $service.persistence.enabled (gt (int64 $service.replicas) 1) }}
{{- fail (printf "service.persistence.enabled is for one replica: leave out service.replicas (%d), after an upgrade with --reuse-values by --set service.replicas=1, or use PostgreSQL and service.s3Bucket without persistence" (int64 $service.replicas)) }}
{{- end }}
{{- if and $service.ingress.enabled (not $service.ingress.host) }}
{{- fail "set service.ingress.host to the public name of the service: the ingress and the links in alerts have it" }}
{{- end }}
{{- $keys := list "DATABASE_URL" "DATABASE_DIRECT_URL" "ENCRYPTION_KEY" "FIRST_API_KEY" "HEARTBEAT_URL" "OIDC_CLIENT_SECRET" "S3_SECRET_ACCESS_KEY" "SMTP_URL" "SMS_GATEWAY_AUTHORIZATION" "RCA_API_KEY" }}
{{- $where := printf "the secret %s, or name its entry in service.secretRefs" $service.secret }}
{{- include "vedette.noSecrets" (list "service" $service.env $keys $where) }}
{{- include "vedette.noSecrets" (list "service" $service.env (list "SMS_GATEWAY_URL") "a secret of service.envFrom") }}
{{- include "vedette.noProxyPassword" (list "service" $service.env) }}
{{- include "vedette.noOwnVariables" (list "service" $service (dict
  "HOST" "the probes of a pod go to the address of the pod"
  "PORT" "probes, Service and ingress use port 8080 of the pod"
  "DATA_DIR" "only a service with service.persistence.enabled=true has data of its own, in a volume at /data")) }}
{{- $volumes := $service.persistence.enabled | ternary (list "data" "database-ca") (list "database-ca") }}
{{- include "vedette.volumesFit" (list "service" $service $volumes) }}
{{- end }}
