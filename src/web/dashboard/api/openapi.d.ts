export interface paths {
    "/-/readiness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readiness
         * @description 503 while the service stops, while the database does not answer in 2 s, and while it refuses results as its disk is full or it is read-only.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/-/liveness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Liveness */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** State of the service as JSON */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics in the text format of Prometheus */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List checks of all types, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listChecks"];
        put?: never;
        /**
         * Create a check of any type
         * @description Needs the role `write`.
         */
        post: operations["createCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a check
         * @description Needs the role `read`.
         */
        get: operations["getCheck"];
        /**
         * Update a check, or create it under a given id
         * @description To create a check, the body needs a `checkType` and a `request`. Heartbeats have routes of their own.
         *
         *     Needs the role `write`.
         */
        put: operations["putCheck"];
        post?: never;
        /**
         * Delete a check
         * @description Needs the role `write`.
         */
        delete: operations["deleteCheck"];
        options?: never;
        head?: never;
        /**
         * Update a check
         * @description Needs the role `write`.
         */
        patch: operations["updateCheck"];
        trace?: never;
    };
    "/v1/checks/{id}/check-file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a check as a check file
         * @description For checks of type URL, API, TCP, DNS, ICMP. Fields with their default are left out, and comments mark hidden values.
         *
         *     Needs the role `read`.
         */
        get: operations["getCheckFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List URL checks, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listUrlChecks"];
        put?: never;
        /**
         * Create a URL check
         * @description Needs the role `write`.
         */
        post: operations["createUrlCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/url/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a URL check
         * @description Needs the role `read`.
         */
        get: operations["getUrlCheck"];
        /**
         * Update a URL check, or create it under a given id
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. If there is no such check, one is created, provided that the body has a `request`.
         *
         *     Needs the role `write`.
         */
        put: operations["putUrlCheck"];
        post?: never;
        /**
         * Delete a URL check
         * @description Needs the role `write`.
         */
        delete: operations["deleteUrlCheck"];
        options?: never;
        head?: never;
        /**
         * Update a URL check
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateUrlCheck"];
        trace?: never;
    };
    "/v1/checks/api": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API checks, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listApiChecks"];
        put?: never;
        /**
         * Create an API check
         * @description Needs the role `write`.
         */
        post: operations["createApiCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/api/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an API check
         * @description Needs the role `read`.
         */
        get: operations["getApiCheck"];
        /**
         * Update an API check, or create it under a given id
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. If there is no such check, one is created, provided that the body has a `request`.
         *
         *     Needs the role `write`.
         */
        put: operations["putApiCheck"];
        post?: never;
        /**
         * Delete an API check
         * @description Needs the role `write`.
         */
        delete: operations["deleteApiCheck"];
        options?: never;
        head?: never;
        /**
         * Update an API check
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateApiCheck"];
        trace?: never;
    };
    "/v1/checks/tcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List TCP checks, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listTcpChecks"];
        put?: never;
        /**
         * Create a TCP check
         * @description Needs the role `write`.
         */
        post: operations["createTcpCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/tcp/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a TCP check
         * @description Needs the role `read`.
         */
        get: operations["getTcpCheck"];
        /**
         * Update a TCP check, or create it under a given id
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. If there is no such check, one is created, provided that the body has a `request`.
         *
         *     Needs the role `write`.
         */
        put: operations["putTcpCheck"];
        post?: never;
        /**
         * Delete a TCP check
         * @description Needs the role `write`.
         */
        delete: operations["deleteTcpCheck"];
        options?: never;
        head?: never;
        /**
         * Update a TCP check
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateTcpCheck"];
        trace?: never;
    };
    "/v1/checks/dns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List DNS checks, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listDnsChecks"];
        put?: never;
        /**
         * Create a DNS check
         * @description Needs the role `write`.
         */
        post: operations["createDnsCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/dns/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a DNS check
         * @description Needs the role `read`.
         */
        get: operations["getDnsCheck"];
        /**
         * Update a DNS check, or create it under a given id
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. If there is no such check, one is created, provided that the body has a `request`.
         *
         *     Needs the role `write`.
         */
        put: operations["putDnsCheck"];
        post?: never;
        /**
         * Delete a DNS check
         * @description Needs the role `write`.
         */
        delete: operations["deleteDnsCheck"];
        options?: never;
        head?: never;
        /**
         * Update a DNS check
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateDnsCheck"];
        trace?: never;
    };
    "/v1/checks/icmp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List ICMP checks, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listIcmpChecks"];
        put?: never;
        /**
         * Create an ICMP check
         * @description Needs the role `write`.
         */
        post: operations["createIcmpCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/icmp/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an ICMP check
         * @description Needs the role `read`.
         */
        get: operations["getIcmpCheck"];
        /**
         * Update an ICMP check, or create it under a given id
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. If there is no such check, one is created, provided that the body has a `request`.
         *
         *     Needs the role `write`.
         */
        put: operations["putIcmpCheck"];
        post?: never;
        /**
         * Delete an ICMP check
         * @description Needs the role `write`.
         */
        delete: operations["deleteIcmpCheck"];
        options?: never;
        head?: never;
        /**
         * Update an ICMP check
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateIcmpCheck"];
        trace?: never;
    };
    "/v1/checks/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create, update, delete, mute, pause or run many checks
         * @description Each check is written by itself and has a result of its own, with the status and the error of the request for it alone: some may fail while others succeed. All actions but `run` need the role `write`. Groups have no such request: change their checks by the filter `groupId`.
         *
         *     Needs the role `run`.
         */
        post: operations["bulkChangeChecks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/heartbeats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List heartbeat checks, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listHeartbeatChecks"];
        put?: never;
        /**
         * Create a heartbeat check
         * @description Monitoring starts with the first ping to the `pingUrl` in the response.
         *
         *     Needs the role `write`.
         */
        post: operations["createHeartbeatCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/heartbeats/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a heartbeat check
         * @description Needs the role `read`.
         */
        get: operations["getHeartbeatCheck"];
        /**
         * Update a heartbeat check, or create it under a given id
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. If no check has the id and the body has a `heartbeat`, creates a heartbeat check.
         *
         *     Needs the role `write`.
         */
        put: operations["putHeartbeatCheck"];
        post?: never;
        /**
         * Delete a heartbeat check
         * @description Needs the role `write`.
         */
        delete: operations["deleteHeartbeatCheck"];
        options?: never;
        head?: never;
        /**
         * Update a heartbeat check
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateHeartbeatCheck"];
        trace?: never;
    };
    "/v1/checks/heartbeats/{id}/ping-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the ping token of a heartbeat check
         * @description The ping URL changes; the old one stops working.
         *
         *     Needs the role `write`.
         */
        post: operations["replacePingToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/heartbeats/{checkId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a heartbeat check, newest first
         * @description Needs the role `read`.
         */
        get: operations["listHeartbeatEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/heartbeats/{checkId}/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an event of a heartbeat check, with recent statistics of the check
         * @description Needs the role `read`.
         */
        get: operations["getHeartbeatEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/heartbeat/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ping a heartbeat check
         * @description Needs no API key, only the token. Ignores body and query. Pings within a second of another are counted and get the same response.
         */
        get: operations["pingHeartbeat"];
        put?: never;
        /**
         * Ping a heartbeat check
         * @description Needs no API key, only the token. Ignores body and query. Pings within a second of another are counted and get the same response.
         */
        post: operations["pingHeartbeatByPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a check once, now
         * @description Runs outside the schedule, with retries, even if the check is deactivated. The response comes before the run: poll the run by its id until it is `done`.
         *
         *     Needs the role `run`.
         */
        post: operations["runCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the outcome of a run
         * @description Retained for RETENTION_DAYS + 2 days.
         *
         *     Needs the role `read`.
         */
        get: operations["getCheckRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-results/{checkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the results of a check, newest first
         * @description Needs the role `read`.
         */
        get: operations["listCheckResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-results/{checkId}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one result of a check
         * @description Needs the role `read`.
         */
        get: operations["getCheckResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/{checkId}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a check with their retries folded, newest first
         * @description Needs the role `read`.
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-results/{checkId}/{id}/explanation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read why a result is as it is, what to try, and which run passed before it
         * @description Needs the role `read`.
         */
        get: operations["explainCheckResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-statuses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the current statuses of checks, the most urgent first
         * @description Also has checks that never ran.
         *
         *     Needs the role `read`.
         */
        get: operations["listCheckStatuses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-statuses/{checkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the current status of a check
         * @description Needs the role `read`.
         */
        get: operations["getCheckStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-state-counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the checks in each state
         * @description Needs the role `read`.
         */
        get: operations["getCheckStateCounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-state-breakdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the checks in each state by tag, group or location
         * @description A check counts for each of its tags, and for each of its locations.
         *
         *     Needs the role `read`.
         */
        get: operations["getCheckStateBreakdown"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the alerts of all checks, newest first
         * @description Includes alerts that no channel receives. The window filters by the time of the alert.
         *
         *     Needs the role `read`.
         */
        get: operations["listCheckAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-alerts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an alert of a check
         * @description Needs the role `read`.
         */
        get: operations["getCheckAlert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/{id}/alert-recipients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read who would be notified of a check, and why
         * @description Needs the role `read`.
         */
        get: operations["getAlertRecipients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{accountId}/alert-settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the alert settings of the account
         * @description Includes the defaults of fields that were never set.
         *
         *     Needs the role `read`.
         */
        get: operations["getAlertSettings"];
        /**
         * Change the alert settings of the account
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. They apply to checks and groups with `useGlobalAlertSettings`, from the next run.
         *
         *     Needs the role `admin`.
         */
        put: operations["putAlertSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the alert settings of the account
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. They apply to checks and groups with `useGlobalAlertSettings`, from the next run.
         *
         *     Needs the role `admin`.
         */
        patch: operations["updateAlertSettings"];
        trace?: never;
    };
    "/v1/alert-channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alert channels, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listAlertChannels"];
        put?: never;
        /**
         * Create an alert channel
         * @description Needs the role `write`.
         */
        post: operations["createAlertChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alert-channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an alert channel
         * @description Secrets and locked values are omitted. Keys without write permission do not see the paths, query parameters and credentials of webhooks.
         *
         *     Needs the role `read`.
         */
        get: operations["getAlertChannel"];
        /**
         * Update an alert channel
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        put: operations["putAlertChannel"];
        post?: never;
        /**
         * Delete an alert channel, with its subscriptions and its log
         * @description Its pending deliveries are not sent.
         *
         *     Needs the role `write`.
         */
        delete: operations["deleteAlertChannel"];
        options?: never;
        head?: never;
        /**
         * Update an alert channel
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateAlertChannel"];
        trace?: never;
    };
    "/v1/alert-channels/{id}/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare a configuration with that of an alert channel, secrets included
         * @description Responses never contain the secrets of a webhook. A client that has them learns here whether an update is needed. An account has 60 comparisons a minute, since each says whether a guess is right.
         *
         *     Needs the role `write`.
         */
        post: operations["compareAlertChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alert-channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test notice once and return the outcome
         * @description Needs the role `write`.
         */
        post: operations["testAlertChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alert-channels/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sent and pending deliveries of an alert channel, newest first
         * @description Needs the role `read`.
         */
        get: operations["listAlertDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alert-channels/{id}/deliveries/{deliveryId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again that was sent or has failed
         * @description It has all of its attempts again and keeps its id. Later deliveries of the check to the channel wait for it.
         *
         *     Needs the role `write`.
         */
        post: operations["resendAlertDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-alerts/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of an alert and of its reminders, newest first
         * @description Empty if no channel receives it.
         *
         *     Needs the role `read`.
         */
        get: operations["listDeliveriesOfCheckAlert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/missed-slots/{checkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the missed slots of a check, newest first
         * @description Needs the role `read`.
         */
        get: operations["listMissedSlots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the changes of the account as server-sent events, or list them
         * @description With `Accept: text/event-stream` (or any type) a stream, which `cursor` or `Last-Event-ID` resumes. Each event of it has the lines `id` (a cursor), `event` (its kind) and `data` (the JSON of an entry of the list). Otherwise a list of the last two days, newest first.
         *
         *     Needs the role `read`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/error-groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the error groups of a check, most recently seen first
         * @description Needs the role `read`.
         */
        get: operations["listErrorGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/error-groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an error group
         * @description Needs the role `read`.
         */
        get: operations["getErrorGroup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Archive or unarchive an error group
         * @description archivedUntilNextEvent: true archives the group until a later run fails with the same message. archiveForEver: true archives it for ever; its archivedUntilNextEvent is true from then on. Either with false unarchives it.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateErrorGroup"];
        trace?: never;
    };
    "/v1/root-cause-analyses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List completed root cause analyses, newest first
         * @description Needs the role `read`.
         */
        get: operations["listRootCauseAnalyses"];
        put?: never;
        /**
         * Ask why a check fails
         * @description Looks at a failure that is stored, and what was around it. The answer comes before the analysis: read it at `Location` until it is COMPLETED, which takes a second or, by a model, up to some minutes. Where the model fails or has had its number of a day, the rules make it.
         *
         *     Needs the role `run`.
         */
        post: operations["createRootCauseAnalysis"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/root-cause-analyses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a root cause analysis
         * @description 202 while it is being made. Kept as long as results are.
         *
         *     Needs the role `read`.
         */
        get: operations["getRootCauseAnalysis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/test-sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List test sessions, newest first
         * @description Needs the role `read`.
         */
        get: operations["listTestSessions"];
        put?: never;
        /**
         * Create a test session, or add results to one
         * @description Stores all results of the request, or none. 201 for a new session. 200 for the id of an existing one: adds its new results, and does not change its other fields. Accepts content-encoding gzip.
         *
         *     Needs the role `run`.
         */
        post: operations["createTestSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/test-sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a test session
         * @description Needs the role `read`.
         */
        get: operations["getTestSession"];
        put?: never;
        post?: never;
        /**
         * Delete a test session with its results; its error groups stay
         * @description Needs the role `write`.
         */
        delete: operations["deleteTestSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/test-sessions/{id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the results of a test session in the order in which the runs began
         * @description Needs the role `read`.
         */
        get: operations["listTestSessionResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/test-session-error-groups/projects/{projectId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the error groups of a project, most recently seen first
         * @description Needs the role `read`.
         */
        get: operations["listTestSessionErrorGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/test-session-error-groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an error group of test sessions
         * @description Needs the role `read`.
         */
        get: operations["getTestSessionErrorGroup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Archive or unarchive an error group of test sessions
         * @description archivedUntilNextEvent: true archives the group until a later run fails with the same message. archiveForEver: true archives it for ever; its archivedUntilNextEvent is true from then on. Either with false unarchives it.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateTestSessionErrorGroup"];
        trace?: never;
    };
    "/v1/analytics/api-checks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how an API check did over time
         * @description Needs the role `read`.
         */
        get: operations["getApiAnalytics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/analytics/url/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how a URL check did over time
         * @description Needs the role `read`.
         */
        get: operations["getUrlAnalytics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/analytics/tcp/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how a TCP check did over time
         * @description Needs the role `read`.
         */
        get: operations["getTcpAnalytics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/analytics/dns/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how a DNS check did over time
         * @description Needs the role `read`.
         */
        get: operations["getDnsAnalytics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/analytics/icmp/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report how an ICMP check did over time
         * @description Needs the role `read`.
         */
        get: operations["getIcmpAnalytics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checks/{checkId}/availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the availability of a check by day and by quarter hour
         * @description Needs the role `read`.
         */
        get: operations["getAvailability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-results/{checkId}/{resultId}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the artifacts of a check result, by name
         * @description Uploaded by agents of the location that ran it; empty until the result is stored.
         *
         *     Needs the role `read`.
         */
        get: operations["listArtifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifacts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an artifact
         * @description The file as uploaded; 404 until its result is stored. Supports If-None-Match, and Range (one range) with If-Range.
         *
         *     Needs the role `read`.
         */
        get: operations["downloadArtifact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List groups, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listCheckGroups"];
        put?: never;
        /**
         * Create a group
         * @description Needs the role `write`.
         */
        post: operations["createCheckGroup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check-groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a group
         * @description Needs the role `read`.
         */
        get: operations["getCheckGroup"];
        /**
         * Update a group
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        put: operations["putCheckGroup"];
        post?: never;
        /**
         * Delete a group; its checks stay, without a group
         * @description Needs the role `write`.
         */
        delete: operations["deleteCheckGroup"];
        options?: never;
        head?: never;
        /**
         * Update a group
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateCheckGroup"];
        trace?: never;
    };
    "/v1/maintenance-windows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List maintenance windows, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listMaintenanceWindows"];
        put?: never;
        /**
         * Create a maintenance window
         * @description Needs the role `write`.
         */
        post: operations["createMaintenanceWindow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/maintenance-windows/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a maintenance window
         * @description Needs the role `read`.
         */
        get: operations["getMaintenanceWindow"];
        /**
         * Update a maintenance window
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. Agents apply the change from the next slot on.
         *
         *     Needs the role `write`.
         */
        put: operations["putMaintenanceWindow"];
        post?: never;
        /**
         * Delete a maintenance window; paused checks resume at their next slot
         * @description Needs the role `write`.
         */
        delete: operations["deleteMaintenanceWindow"];
        options?: never;
        head?: never;
        /**
         * Update a maintenance window
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. Agents apply the change from the next slot on.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateMaintenanceWindow"];
        trace?: never;
    };
    "/v1/private-locations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List private locations, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listPrivateLocations"];
        put?: never;
        /**
         * Create a private location
         * @description Needs the role `write`.
         */
        post: operations["createPrivateLocation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/private-locations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a private location
         * @description Needs the role `read`.
         */
        get: operations["getPrivateLocation"];
        /**
         * Update a private location
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. ******** in proxyUrl stands for the stored password; scheme, host and port must be the same. The slug never changes.
         *
         *     Needs the role `write`.
         */
        put: operations["putPrivateLocation"];
        post?: never;
        /**
         * Delete a private location and its keys; no check or group may use it
         * @description Needs the role `write`.
         */
        delete: operations["deletePrivateLocation"];
        options?: never;
        head?: never;
        /**
         * Update a private location
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. ******** in proxyUrl stands for the stored password; scheme, host and port must be the same. The slug never changes.
         *
         *     Needs the role `write`.
         */
        patch: operations["updatePrivateLocation"];
        trace?: never;
    };
    "/v1/private-locations/{id}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys of a location, oldest first, including revoked keys
         * @description Needs the role `read`.
         */
        get: operations["listLocationKeys"];
        put?: never;
        /**
         * Create a key for the agents of a location; at most two are active
         * @description Needs the role `admin`.
         */
        post: operations["createLocationKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/private-locations/{id}/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key of a location permanently
         * @description Needs the role `admin`.
         */
        delete: operations["deleteLocationKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/private-location-statuses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List how the agents of each private location are, oldest location first
         * @description Needs the role `read`.
         */
        get: operations["listPrivateLocationStatuses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/private-location-statuses/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how the agents of a private location are
         * @description Needs the role `read`.
         */
        get: operations["getPrivateLocationStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/private-locations/{id}/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the agents of a private location, oldest first
         * @description Includes ended agents, and agents that are gone, for a month.
         *
         *     Needs the role `read`.
         */
        get: operations["listLocationAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/private-locations/{id}/agents/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End an agent: its checks move to the others, and its polls are refused
         * @description It stays in the list, with the time in `endedAt`, until it is allowed again. The service still accepts its results: to block them, revoke the key.
         *
         *     Needs the role `write`.
         */
        delete: operations["deleteLocationAgent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/private-locations/{id}/agents/{agentId}/allow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let an ended agent poll again
         * @description The agent retries every few minutes, and at once after a restart.
         *
         *     Needs the role `write`.
         */
        post: operations["allowLocationAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/private-locations/{id}/agent-errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the errors of a location's agents, newest first
         * @description Errors of the agents themselves, not of checks. Retains the newest 100 of each agent and 1000 of each location.
         *
         *     Needs the role `read`.
         */
        get: operations["listLocationAgentErrors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/static-ipv6s.txt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the IPv6 addresses that checks of the public locations come from
         * @description Needs the role `read`.
         */
        get: operations["listStaticIpv6s"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/variables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List variables by their keys
         * @description Needs the role `read`.
         */
        get: operations["listVariables"];
        put?: never;
        /**
         * Create a variable
         * @description Needs the role `admin`.
         */
        post: operations["createVariable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/variables/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a variable
         * @description Needs the role `read`.
         */
        get: operations["getVariable"];
        /**
         * Update a variable
         * @description Omitted fields do not change.
         *
         *     Needs the role `admin`.
         */
        put: operations["putVariable"];
        post?: never;
        /**
         * Delete a variable
         * @description Needs the role `admin`.
         */
        delete: operations["deleteVariable"];
        options?: never;
        head?: never;
        /**
         * Update a variable
         * @description Omitted fields do not change.
         *
         *     Needs the role `admin`.
         */
        patch: operations["updateVariable"];
        trace?: never;
    };
    "/v1/variable-uses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List which checks use which variables
         * @description Looks for placeholders in the requests of URL, API and TCP checks. Text that is hidden as a credential is not looked at, unless it consists of placeholders.
         *
         *     Needs the role `read`.
         */
        get: operations["listVariableUses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/client-certificates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List client certificates, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listClientCertificates"];
        put?: never;
        /**
         * Add a client certificate
         * @description One for each host. Agents have it within moments.
         *
         *     Needs the role `admin`.
         */
        post: operations["createClientCertificate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/client-certificates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a client certificate
         * @description Needs the role `read`.
         */
        get: operations["getClientCertificate"];
        /**
         * Update a client certificate
         * @description Omitted fields do not change, and neither does the private key. A new key needs its own passphrase.
         *
         *     Needs the role `admin`.
         */
        put: operations["putClientCertificate"];
        post?: never;
        /**
         * Delete a client certificate
         * @description Needs the role `admin`.
         */
        delete: operations["deleteClientCertificate"];
        options?: never;
        head?: never;
        /**
         * Update a client certificate
         * @description Omitted fields do not change, and neither does the private key. A new key needs its own passphrase.
         *
         *     Needs the role `admin`.
         */
        patch: operations["updateClientCertificate"];
        trace?: never;
    };
    "/v1/certificates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the certificates that checks saw, those that expire first first
         * @description One for each check that saw one: the last one, of all its locations.
         *
         *     Needs the role `read`.
         */
        get: operations["listCertificates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/client-certificate-uses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List when client certificates expire and which checks use them, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listClientCertificateUses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/snippets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List snippets, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listSnippets"];
        put?: never;
        /**
         * Create a snippet
         * @description Needs the role `write`.
         */
        post: operations["createSnippet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/snippets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a snippet
         * @description Needs the role `read`.
         */
        get: operations["getSnippet"];
        /**
         * Update a snippet
         * @description Omitted fields do not change.
         *
         *     Needs the role `write`.
         */
        put: operations["putSnippet"];
        post?: never;
        /**
         * Delete a snippet
         * @description Needs the role `write`.
         */
        delete: operations["deleteSnippet"];
        options?: never;
        head?: never;
        /**
         * Update a snippet
         * @description Omitted fields do not change.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateSnippet"];
        trace?: never;
    };
    "/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the account of the key
         * @description Needs the role `read`.
         */
        get: operations["listAccounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{accountId}/entitlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the plan of the account
         * @description Needs the role `read`.
         */
        get: operations["getEntitlements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List status pages, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listStatusPages"];
        put?: never;
        /**
         * Create a status page with its cards
         * @description Needs the role `write`.
         */
        post: operations["createStatusPage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/{statusPageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a status page
         * @description Needs the role `read`.
         */
        get: operations["getStatusPage"];
        /**
         * Update a status page
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. Cards keep their ids: by the given id, or without one by the name.
         *
         *     Needs the role `write`.
         */
        put: operations["putStatusPage"];
        post?: never;
        /**
         * Delete a status page with its cards; the services stay
         * @description Needs the role `write`.
         */
        delete: operations["deleteStatusPage"];
        options?: never;
        head?: never;
        /**
         * Update a status page
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. Cards keep their ids: by the given id, or without one by the name.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateStatusPage"];
        trace?: never;
    };
    "/v1/status-pages/{statusPageId}/fetch-pictures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch the logo and the icon of a status page again
         * @description For a picture that has changed at its URL, or could not be fetched. `warnings` in the response say what could not be fetched now.
         *
         *     Needs the role `write`.
         */
        post: operations["fetchStatusPagePictures"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/{statusPageId}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the status of the services of a status page, and its open incidents
         * @description Needs the role `read`.
         */
        get: operations["getStatusPageSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/{statusPageId}/domain-check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check that the custom domain of a status page leads to it
         * @description Looks the domain up and asks it for the page, within 15 s. The answer says what to do: which record to set, or what the proxy lacks.
         *
         *     Needs the role `write`.
         */
        post: operations["checkStatusPageDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List services, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listStatusPageServices"];
        put?: never;
        /**
         * Create a service
         * @description Needs the role `write`.
         */
        post: operations["createStatusPageService"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/services/{serviceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a service
         * @description Needs the role `read`.
         */
        get: operations["getStatusPageService"];
        /**
         * Update a service
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        put: operations["putStatusPageService"];
        post?: never;
        /**
         * Delete a service; no open incident may name it. Cards and past incidents lose it.
         * @description Needs the role `write`.
         */
        delete: operations["deleteStatusPageService"];
        options?: never;
        head?: never;
        /**
         * Update a service
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateStatusPageService"];
        trace?: never;
    };
    "/v1/status-pages/{statusPageId}/subscribers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscribers of a status page, oldest first
         * @description Needs the role `read`.
         */
        get: operations["listStatusPageSubscribers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/{statusPageId}/subscribers/{subscriberId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a subscriber of a status page; messages to it are no longer sent
         * @description Needs the role `write`.
         */
        delete: operations["deleteStatusPageSubscriber"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List incidents, oldest first, each with its first update
         * @description Needs the role `read`.
         */
        get: operations["listStatusPageIncidents"];
        put?: never;
        /**
         * Create an incident with its first update
         * @description Needs the role `write`.
         */
        post: operations["createStatusPageIncident"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/incidents/{incidentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an incident
         * @description Needs the role `read`.
         */
        get: operations["getStatusPageIncident"];
        /**
         * Update an incident
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. Its updates have their own routes.
         *
         *     Needs the role `write`.
         */
        put: operations["putStatusPageIncident"];
        post?: never;
        /**
         * Delete an incident with its updates
         * @description Needs the role `write`.
         */
        delete: operations["deleteStatusPageIncident"];
        options?: never;
        head?: never;
        /**
         * Update an incident
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. Its updates have their own routes.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateStatusPageIncident"];
        trace?: never;
    };
    "/v1/status-pages/incidents/{incidentId}/incident-updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add an update to an incident; its status becomes that of the incident
         * @description Needs the role `write`.
         */
        post: operations["createStatusPageIncidentUpdate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status-pages/incidents/{incidentId}/incident-updates/{updateId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change an update of an incident
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        put: operations["putStatusPageIncidentUpdate"];
        post?: never;
        /**
         * Delete an update of an incident, which keeps at least one
         * @description Needs the role `write`.
         */
        delete: operations["deleteStatusPageIncidentUpdate"];
        options?: never;
        head?: never;
        /**
         * Change an update of an incident
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateStatusPageIncidentUpdate"];
        trace?: never;
    };
    "/v1/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List incidents, oldest first, each with its first update
         * @description Needs the role `read`.
         */
        get: operations["listIncidents"];
        put?: never;
        /**
         * Create an incident
         * @description Needs the role `write`.
         */
        post: operations["createIncident"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/incidents/{incidentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an incident
         * @description Needs the role `read`.
         */
        get: operations["getIncident"];
        /**
         * Update an incident
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. Its updates have their own routes.
         *
         *     Needs the role `write`.
         */
        put: operations["putIncident"];
        post?: never;
        /**
         * Delete an incident with its updates
         * @description Needs the role `write`.
         */
        delete: operations["deleteIncident"];
        options?: never;
        head?: never;
        /**
         * Update an incident
         * @description Omitted fields do not change; each given field replaces the stored one as a whole. Its updates have their own routes.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateIncident"];
        trace?: never;
    };
    "/v1/incidents/{incidentId}/incident-updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add an update to an incident
         * @description Needs the role `write`.
         */
        post: operations["createIncidentUpdate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/incidents/{incidentId}/incident-updates/{updateId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change an update of an incident
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        put: operations["putIncidentUpdate"];
        post?: never;
        /**
         * Delete an update of an incident
         * @description Needs the role `write`.
         */
        delete: operations["deleteIncidentUpdate"];
        options?: never;
        head?: never;
        /**
         * Change an update of an incident
         * @description Omitted fields do not change; each given field replaces the stored one as a whole.
         *
         *     Needs the role `write`.
         */
        patch: operations["updateIncidentUpdate"];
        trace?: never;
    };
    "/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys, oldest first, including revoked keys
         * @description Needs the role `admin`.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description Needs the role `admin`.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an API key
         * @description Needs the role `admin`.
         */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key permanently; the last admin key stays
         * @description Needs the role `admin`.
         */
        delete: operations["deleteApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users of the account, in the order in which they joined
         * @description Needs the role `admin`.
         */
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a user of the account
         * @description Needs the role `admin`.
         */
        get: operations["getUser"];
        /**
         * Change the role of a user; the last admin stays one
         * @description Needs the role `admin`.
         */
        put: operations["putUser"];
        post?: never;
        /**
         * Remove a user from the account; the last admin stays
         * @description Needs the role `admin`.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /**
         * Change the role of a user; the last admin stays one
         * @description Needs the role `admin`.
         */
        patch: operations["updateUser"];
        trace?: never;
    };
    "/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List open invitations, oldest first
         * @description Needs the role `admin`.
         */
        get: operations["listInvitations"];
        put?: never;
        /**
         * Invite a user to the account by a link
         * @description Replaces an earlier invitation of the same email.
         *
         *     Needs the role `admin`.
         */
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Withdraw an invitation
         * @description Needs the role `admin`.
         */
        delete: operations["deleteInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation, and sign in
         * @description A new user chooses a password. A user who has one gives that password, or is signed in and gives none.
         */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who changed what in the account, newest first
         * @description Needs the role `admin`.
         */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read who is signed in, and the accounts of the user
         * @description Needs a user who is signed in.
         */
        get: operations["getSession"];
        put?: never;
        /** Sign in by email and password */
        post: operations["signIn"];
        /**
         * Sign out
         * @description Needs a user who is signed in.
         */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the own sessions, the most recent sign-in first
         * @description Needs a user who is signed in.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /**
         * Sign out everywhere
         * @description Needs a user who is signed in.
         */
        delete: operations["signOutEverywhere"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of the own sessions
         * @description Needs a user who is signed in.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change the own password, and sign out everywhere else
         * @description Needs a user who is signed in.
         */
        put: operations["changePassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptInvitationInput: {
            /** @description The end of the link. */
            token: string;
            password?: string;
        };
        Account: {
            /** @description The id in paths, PLANS_FILE and `x-service-account`. */
            id: string;
            name: string;
            /** Format: date-time */
            created_at: string;
        };
        /**
         * @example {
         *       "type": "EMAIL",
         *       "config": {
         *         "address": "team@example.com"
         *       },
         *       "sendFailure": true,
         *       "sendRecovery": true,
         *       "sendDegraded": false,
         *       "sendLocationSilent": null,
         *       "sslExpiry": false,
         *       "sslExpiryThreshold": 30,
         *       "subscriptions": [],
         *       "logicalId": null,
         *       "id": 1,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        AlertChannel: components["schemas"]["EmailAlertChannel"] | components["schemas"]["WebhookAlertChannel"] | components["schemas"]["SlackAlertChannel"] | components["schemas"]["SmsAlertChannel"];
        AlertChannelChanges: {
            /** @description Whether the channel is notified of failures. */
            sendFailure?: boolean;
            /** @description Whether the channel is notified when a failing or degraded check passes again. */
            sendRecovery?: boolean;
            /** @description Whether the channel is notified of degraded checks. */
            sendDegraded?: boolean;
            /** @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures. */
            sendLocationSilent?: boolean | null;
            /** @description Whether the channel is notified of certificates that expire soon. */
            sslExpiry?: boolean;
            /** @description How many days before a certificate expires the channel is notified, once. */
            sslExpiryThreshold?: number;
            /** @description The checks that the channel is notified of. */
            subscriptions?: {
                /** @description The id of the check. */
                checkId: string;
                /** @description Whether the channel is notified of the check. */
                activated?: boolean;
            }[];
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /**
             * @description The same as before.
             * @enum {string}
             */
            type?: "EMAIL" | "WEBHOOK" | "SLACK" | "SMS";
            /** @description The complete configuration of a channel of this type. Empty locked values and an omitted secret of a webhook do not change. */
            config?: {
                [key: string]: unknown;
            };
            /** @description The same as in the path. */
            id?: number;
        };
        AlertChannelComparisonInput: {
            /** @description The complete configuration of a channel of this type, including its secrets. */
            config: {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "type": "EMAIL",
         *       "config": {
         *         "address": "team@example.com"
         *       }
         *     }
         */
        AlertChannelInput: components["schemas"]["EmailAlertChannelInput"] | components["schemas"]["WebhookAlertChannelInput"] | components["schemas"]["SlackAlertChannelInput"] | components["schemas"]["SmsAlertChannelInput"];
        AlertChannelSummary: {
            id: number;
            /** @enum {string} */
            type: "EMAIL" | "WEBHOOK" | "SLACK" | "SMS";
            /** @description The address, the name of the webhook or recipient, or the host of Slack. */
            name: string;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000036",
         *       "channel": {
         *         "id": 1,
         *         "type": "EMAIL",
         *         "name": "shop@a.test"
         *       },
         *       "checkId": "homepage",
         *       "location": null,
         *       "alertId": "00000000-0000-4000-8000-000000000034",
         *       "alertType": "ALERT_FAILURE",
         *       "reminder": 0,
         *       "state": "failed",
         *       "attempts": 1,
         *       "lastStatus": null,
         *       "lastError": "this service sends no e-mail: SMTP_URL is not set",
         *       "lastAnswer": null,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "lastAttemptAt": "2026-01-31T12:00:00.000Z",
         *       "nextAttemptAt": null,
         *       "finishedAt": "2026-01-31T12:00:00.000Z"
         *     }
         */
        AlertDelivery: {
            /** @description The same each time it is sent: in x-service-delivery, or the Message-ID. */
            id: string;
            /** @description To which channel it is sent. */
            channel: components["schemas"]["AlertChannelSummary"];
            /** @description null for a silent location. */
            checkId: string | null;
            /** @description The slug of the silent location; null for a check. */
            location: string | null;
            /** @description As /v1/check-alerts has it for checks. */
            alertId: string;
            /** @enum {string} */
            alertType: "NO_ALERT" | "ALERT_FAILURE" | "ALERT_FAILURE_REMAIN" | "ALERT_FAILURE_DEGRADED" | "ALERT_RECOVERY" | "ALERT_DEGRADED" | "ALERT_DEGRADED_REMAIN" | "ALERT_DEGRADED_FAILURE" | "ALERT_DEGRADED_RECOVERY" | "ALERT_SSL" | "LOCATION_SILENT" | "LOCATION_RECOVERY";
            /** @description 0 for the notice itself, then 1, 2, … for its reminders. */
            reminder: number;
            /**
             * @description `waiting`: to be sent, for the first time or again; `sending`; `sent`: the receiver accepted it; `failed`: there are no more retries.
             * @enum {string}
             */
            state: "waiting" | "sending" | "sent" | "failed";
            /** @description Attempts made so far. */
            attempts: number;
            /** @description The HTTP or SMTP status; null without a response. */
            lastStatus: number | null;
            /** @description The problem of the last attempt; null for none. */
            lastError: string | null;
            /** @description The first 200 characters of the receiver's answer. Only for admin keys: null for all others. */
            lastAnswer: string | null;
            /** Format: date-time */
            created_at: string;
            lastAttemptAt: string | null;
            /** @description When a waiting delivery may be sent. Earlier deliveries of the check are sent first. */
            nextAttemptAt: string | null;
            /** @description When it was sent, or failed without another retry. */
            finishedAt: string | null;
        };
        AlertRecipients: {
            /** @description The alert settings in force, with all defaults. */
            settings: components["schemas"]["AlertSettings"];
            /**
             * @description Whose settings they are: see "Settings" in Alerts.
             * @enum {string}
             */
            settingsOf: "CHECK" | "GROUP" | "ACCOUNT";
            /** @description Why nobody is notified of a failure now; empty if somebody is. */
            silences: {
                /** @enum {string} */
                code: "NOT_ACTIVATED" | "MUTED" | "MAINTENANCE_WINDOW" | "NO_CHANNEL";
                message: string;
            }[];
            /** @description The channels that are subscribed to the check, in the order of their ids. */
            recipients: {
                channel: components["schemas"]["AlertChannelSummary"];
                /** @description Whether the subscription is. */
                activated: boolean;
                /** @description What the channel is notified of. */
                notifications: ("FAILURE" | "DEGRADED" | "RECOVERY" | "CERTIFICATE")[];
                /** @description Why, in one sentence. */
                reason: string;
                /** @description Why nothing can be delivered to it; null if nothing is known. */
                problem: string | null;
            }[];
            /** @description How many more there are. */
            omitted: number;
        };
        AlertSettings: {
            /**
             * @description Whether the number of runs or the time decides when an alert is sent.
             * @default RUN_BASED
             * @enum {string}
             */
            escalationType: "RUN_BASED" | "TIME_BASED";
            /** @description The threshold if `escalationType` is `RUN_BASED`. */
            runBasedEscalation?: {
                /**
                 * @description An alert is sent after this many consecutive failed (or degraded) runs.
                 * @default 1
                 */
                failedRunThreshold: number;
            };
            /** @description The threshold if `escalationType` is `TIME_BASED`. */
            timeBasedEscalation?: {
                /**
                 * @description An alert is sent after the check has been failing (or degraded) for this many minutes.
                 * @default 5
                 * @enum {number}
                 */
                minutesFailingThreshold: 5 | 10 | 15 | 30;
            };
            /** @description Reminders that repeat an alert until the check recovers. */
            reminders?: {
                /**
                 * @description The number of reminders while the problem lasts; 100000 for no limit.
                 * @default 0
                 * @enum {number}
                 */
                amount: 0 | 1 | 2 | 3 | 4 | 5 | 100000;
                /**
                 * @description Minutes between reminders.
                 * @default 5
                 * @enum {number}
                 */
                interval: 1 | 2 | 3 | 4 | 5 | 10 | 15 | 30;
            };
            /** @description For checks that run in two or more locations in parallel. */
            parallelRunFailureThreshold?: {
                /**
                 * @description Whether `percentage` applies.
                 * @default false
                 */
                enabled: boolean;
                /**
                 * @description The check fails only if at least this percentage of its locations fail.
                 * @default 10
                 */
                percentage: number;
            };
        };
        AlertSettingsChanges: {
            /**
             * @description Whether the number of runs or the time decides when an alert is sent.
             * @enum {string}
             */
            escalationType?: "RUN_BASED" | "TIME_BASED";
            /** @description The threshold if `escalationType` is `RUN_BASED`. */
            runBasedEscalation?: {
                /** @description An alert is sent after this many consecutive failed (or degraded) runs. */
                failedRunThreshold?: number;
            };
            /** @description The threshold if `escalationType` is `TIME_BASED`. */
            timeBasedEscalation?: {
                /** @description An alert is sent after the check has been failing (or degraded) for this many minutes. */
                minutesFailingThreshold?: 5 | 10 | 15 | 30;
            };
            /** @description Reminders that repeat an alert until the check recovers. */
            reminders?: {
                /** @description The number of reminders while the problem lasts; 100000 for no limit. */
                amount?: 0 | 1 | 2 | 3 | 4 | 5 | 100000;
                /** @description Minutes between reminders. */
                interval?: 1 | 2 | 3 | 4 | 5 | 10 | 15 | 30;
            };
            /** @description For checks that run in two or more locations in parallel. */
            parallelRunFailureThreshold?: {
                /** @description Whether `percentage` applies. */
                enabled?: boolean;
                /** @description The check fails only if at least this percentage of its locations fail. */
                percentage?: number;
            };
        };
        AlertSettingsInput: {
            /** @description Whether the number of runs or the time decides when an alert is sent. */
            escalationType?: "RUN_BASED" | "TIME_BASED";
            /** @description The threshold if `escalationType` is `RUN_BASED`. */
            runBasedEscalation?: {
                /** @description An alert is sent after this many consecutive failed (or degraded) runs. */
                failedRunThreshold?: number;
            };
            /** @description The threshold if `escalationType` is `TIME_BASED`. */
            timeBasedEscalation?: {
                /** @description An alert is sent after the check has been failing (or degraded) for this many minutes. */
                minutesFailingThreshold?: 5 | 10 | 15 | 30;
            };
            /** @description Reminders that repeat an alert until the check recovers. */
            reminders?: {
                /** @description The number of reminders while the problem lasts; 100000 for no limit. */
                amount?: 0 | 1 | 2 | 3 | 4 | 5 | 100000;
                /** @description Minutes between reminders. */
                interval?: 1 | 2 | 3 | 4 | 5 | 10 | 15 | 30;
            };
            /** @description For checks that run in two or more locations in parallel. */
            parallelRunFailureThreshold?: {
                /** @description Whether `percentage` applies. */
                enabled?: boolean;
                /** @description The check fails only if at least this percentage of its locations fail. */
                percentage?: number;
            };
        };
        /**
         * @example {
         *       "checkId": "homepage",
         *       "name": "Homepage",
         *       "checkType": "URL",
         *       "activated": true,
         *       "muted": false,
         *       "frequency": 10,
         *       "from": "2026-01-31T12:00:00.000Z",
         *       "to": "2026-01-31T12:00:00.000Z",
         *       "tags": [
         *         "shop"
         *       ],
         *       "series": [
         *         {
         *           "data": [
         *             {
         *               "time": "2026-01-31T12:00:00.000Z",
         *               "responseTime_avg": 11.75,
         *               "responseTime_p95": 11.75,
         *               "availability": 50
         *             }
         *           ]
         *         }
         *       ],
         *       "pagination": {
         *         "page": 1,
         *         "limit": 10
         *       },
         *       "metadata": {
         *         "responseTime_avg": {
         *           "unit": "milliseconds",
         *           "label": "Response time (average)",
         *           "aggregation": "avg"
         *         },
         *         "responseTime_p95": {
         *           "unit": "milliseconds",
         *           "label": "Response time (95th percentile)",
         *           "aggregation": "p95"
         *         },
         *         "availability": {
         *           "unit": "percentage",
         *           "label": "Availability",
         *           "aggregation": "avg"
         *         }
         *       }
         *     }
         */
        AnalyticsReport: {
            checkId: string;
            name: string;
            /** @enum {string} */
            checkType: "AGENTIC" | "API" | "BROWSER" | "HEARTBEAT" | "ICMP" | "MULTI_STEP" | "TCP" | "PLAYWRIGHT" | "URL" | "DNS";
            activated: boolean;
            muted: boolean;
            /** @description Minutes between runs. */
            frequency: number;
            /**
             * Format: date-time
             * @description The start of the window, inclusive.
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the window, exclusive.
             */
            to: string;
            tags: string[];
            series: components["schemas"]["AnalyticsReportSeries"][];
            /** @description The page of series. */
            pagination: {
                page: number;
                limit: number;
            };
            /** @description Each metric by its name. */
            metadata: {
                [key: string]: components["schemas"]["AnalyticsReportMetadata"];
            };
        };
        AnalyticsReportMetadata: {
            /** @enum {string} */
            unit: "milliseconds" | "percentage" | "count";
            label: string;
            /**
             * @description How a point combines several runs.
             * @enum {string}
             */
            aggregation: "avg" | "max" | "median" | "min" | "p50" | "p90" | "p95" | "p99" | "stddev" | "sum";
        };
        AnalyticsReportSeries: {
            /** @description With groupBy=runLocation. */
            runLocation?: string;
            /** @description With groupBy=statusCode; null for the runs without an answer. */
            statusCode?: number | null;
            /** @description By time. */
            data: ({
                /**
                 * Format: date-time
                 * @description The slot of the run, or the start of the interval.
                 */
                time: string;
            } & {
                [key: string]: number | null;
            })[];
        };
        /**
         * @example {
         *       "checkType": "API",
         *       "name": "Homepage",
         *       "activated": true,
         *       "muted": false,
         *       "doubleCheck": true,
         *       "shouldFail": false,
         *       "locations": null,
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "tags": [],
         *       "alertSettings": {
         *         "escalationType": "RUN_BASED",
         *         "runBasedEscalation": {
         *           "failedRunThreshold": 1
         *         },
         *         "reminders": {
         *           "amount": 0,
         *           "interval": 5
         *         },
         *         "parallelRunFailureThreshold": {
         *           "enabled": false,
         *           "percentage": 10
         *         }
         *       },
         *       "useGlobalAlertSettings": true,
         *       "groupId": null,
         *       "groupOrder": null,
         *       "runtimeId": null,
         *       "alertChannelSubscriptions": [],
         *       "runParallel": false,
         *       "variables": [],
         *       "description": null,
         *       "frequency": 10,
         *       "degradedResponseTime": 5000,
         *       "maxResponseTime": 20000,
         *       "request": {
         *         "method": "GET",
         *         "url": "https://example.com/api",
         *         "headers": [],
         *         "queryParameters": [],
         *         "bodyType": "NONE",
         *         "body": "",
         *         "basicAuth": null,
         *         "followRedirects": true,
         *         "skipSSL": false,
         *         "ipFamily": "IPv4",
         *         "assertions": []
         *       },
         *       "id": "00000000-0000-4000-8000-000000000006",
         *       "created_at": "2026-01-31",
         *       "updated_at": null,
         *       "alertChannels": {
         *         "email": [],
         *         "webhook": [],
         *         "slack": [],
         *         "sms": []
         *       },
         *       "warnings": [
         *         {
         *           "code": "LOCATION_WITHOUT_AGENTS",
         *           "message": "No agent of the private location office is connected, so nothing runs there. Start an agent with a key of this location.",
         *           "path": "privateLocations[0]"
         *         }
         *       ]
         *     }
         */
        ApiCheck: {
            /** @enum {string} */
            checkType: "API";
            /** @description The name of the check. */
            name: string;
            /**
             * @description Whether the check runs.
             * @default true
             */
            activated: boolean;
            /**
             * @description Whether the check sends no alerts.
             * @default false
             */
            muted: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             * @default true
             */
            doubleCheck: boolean;
            /**
             * @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes.
             * @default false
             */
            shouldFail: boolean;
            /**
             * @description Public locations that run the check. Not needed in a check file.
             * @default null
             */
            locations: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /**
             * @description Private locations that run the check. Not needed in a check file.
             * @default null
             */
            privateLocations: string[] | null;
            /**
             * @description Labels for grouping and filtering.
             * @default []
             */
            tags: string[];
            /** @description When a failure sends alerts. */
            alertSettings: components["schemas"]["AlertSettings"];
            /**
             * @description Whether the alert settings of the account replace those of the check.
             * @default true
             */
            useGlobalAlertSettings: boolean;
            /**
             * @description The id of the group that the check belongs to.
             * @default null
             */
            groupId: number | null;
            /**
             * @description The position of the check in its group.
             * @default null
             */
            groupOrder: number | null;
            /**
             * @description Stored but not used: the agent runs no user code.
             * @default null
             */
            runtimeId: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /**
             * @description The alert channels that are notified of the check.
             * @default []
             */
            alertChannelSubscriptions: {
                alertChannelId: number;
                /** @default true */
                activated: boolean;
            }[];
            /** @description How a failed run is retried; omitted if `doubleCheck` decides. */
            retryStrategy?: components["schemas"]["RetryStrategy"];
            /** @description The incident that a failure opens; omitted if there is none. */
            triggerIncident?: components["schemas"]["TriggerIncident"];
            /**
             * @description Whether all locations run every slot. If false, they run the slots in rotation.
             * @default false
             */
            runParallel: boolean;
            /** @description Values for the check's templates; they take precedence over all other variables. */
            variables: components["schemas"]["CheckVariable"][];
            /**
             * @description A note for users.
             * @default null
             */
            description: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @default 10
             * @enum {number}
             */
            frequency: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description The offset of the slots; omitted if the id decides. */
            frequencyOffset?: number;
            /**
             * @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold.
             * @default 5000
             */
            degradedResponseTime: number | null;
            /**
             * @description Milliseconds. A run fails if its response time is longer. null disables the threshold.
             * @default 20000
             */
            maxResponseTime: number | null;
            request: components["schemas"]["ApiRequest"];
            id: string;
            /**
             * Format: date
             * @description The day of its creation, in UTC.
             */
            created_at: string;
            /** @description null until the first update. */
            updated_at: string | null;
            alertChannels: components["schemas"]["CheckAlertChannels"];
            /** @description What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests. */
            warnings?: components["schemas"]["Warning"][];
        };
        ApiCheckChanges: {
            /** @description The name of the check. */
            name?: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /** @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted. */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableChanges"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @enum {number}
             */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request?: components["schemas"]["ApiCheckRequestChanges"];
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            readonly alertChannels?: unknown;
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "API";
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "name": "Homepage",
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "request": {
         *         "url": "https://example.com/api"
         *       }
         *     }
         */
        ApiCheckInput: {
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request: components["schemas"]["ApiRequestInput"];
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "API";
        };
        ApiCheckRequestChanges: {
            /** @description The HTTP method. */
            method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";
            /** @description An http or https URL. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value. */
            url: string;
            /** @description The stored value of Authorization and similar headers is kept if the update omits it or sends ********, and scheme, host and port of `url` and the Host header do not change; null removes the header. If `headers` is omitted, all of these headers are kept. */
            headers?: components["schemas"]["ApiCheckRequestHeaderChanges"][];
            /** @description Query parameters as {key, value}, added to the URL. */
            queryParameters?: components["schemas"]["KeyValueInput"][];
            /** @description The format of `body`. Sets the Content-Type unless a header does. */
            bodyType?: "JSON" | "FORM" | "RAW" | "GRAPHQL" | "NONE";
            /** @description The text of the request body. */
            body?: string;
            /** @description Kept if omitted. The password, or the username without a password, is kept if the update omits it or sends ********, and scheme, host and port of `url` and the Host header do not change. null removes the credentials. */
            basicAuth?: {
                username?: string;
                password?: string | null;
            } | null;
            /** @description Whether redirects are followed, at most 10. */
            followRedirects?: boolean;
            /** @description Whether any server certificate is accepted. */
            skipSSL?: boolean;
            /** @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6. */
            ipFamily?: "IPv4" | "IPv6";
            /** @description The conditions that the response must meet; see Assertions. */
            assertions?: components["schemas"]["ApiRequestAssertionInput"][];
        };
        ApiCheckRequestHeaderChanges: {
            key: string;
            value?: string | null;
            /** @description Stored and returned as a note for users. The value remains visible to everyone who can read the check. */
            locked?: boolean;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000033",
         *       "name": "Homepage",
         *       "role": "admin",
         *       "prefix": "vk_000000",
         *       "lastFour": "0000",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "lastUsedAt": "2026-01-31T12:00:00.000Z",
         *       "revokedAt": null,
         *       "last_used_at": "2026-01-31T12:00:00.000Z",
         *       "revoked_at": null
         *     }
         */
        ApiKey: {
            id: string;
            /** @description A name for people. */
            name: string;
            /**
             * @description What it may do; each role includes those before it.
             * @enum {string}
             */
            role: "read" | "run" | "write" | "admin";
            /** @description The first characters of the key. */
            prefix: string;
            /** @description The last four characters of the key; null for a key from before the release that stores them. */
            lastFour: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description To the minute; null if it was never used. */
            lastUsedAt: string | null;
            /** @description null while it is active. */
            revokedAt: string | null;
            /**
             * @deprecated
             * @description The same as lastUsedAt.
             */
            last_used_at: string | null;
            /**
             * @deprecated
             * @description The same as revokedAt.
             */
            revoked_at: string | null;
        };
        /**
         * @example {
         *       "name": "Dashboard",
         *       "role": "read"
         *     }
         */
        ApiKeyInput: {
            /** @description A name for people. */
            name: string;
            /**
             * @description What it may do; each role includes those before it.
             * @enum {string}
             */
            role: "read" | "run" | "write" | "admin";
        };
        ApiRequest: {
            /**
             * @description The HTTP method.
             * @default GET
             * @enum {string}
             */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";
            /** @description An http or https URL. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value. */
            url: string;
            /**
             * @description The request headers as {key, value}. Values of Authorization and similar headers are returned as ********.
             * @default []
             */
            headers: components["schemas"]["KeyValue"][];
            /**
             * @description Query parameters as {key, value}, added to the URL.
             * @default []
             */
            queryParameters: components["schemas"]["KeyValue"][];
            /**
             * @description The format of `body`. Sets the Content-Type unless a header does.
             * @default NONE
             * @enum {string}
             */
            bodyType: "JSON" | "FORM" | "RAW" | "GRAPHQL" | "NONE";
            /**
             * @description The text of the request body.
             * @default
             */
            body: string;
            /**
             * @description Credentials as {username, password}. The password is returned as ********; if it is empty, the username is.
             * @default null
             */
            basicAuth: {
                username: string;
                password: string;
            } | null;
            /**
             * @description Whether redirects are followed, at most 10.
             * @default true
             */
            followRedirects: boolean;
            /**
             * @description Whether any server certificate is accepted.
             * @default false
             */
            skipSSL: boolean;
            /**
             * @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6.
             * @default IPv4
             * @enum {string}
             */
            ipFamily: "IPv4" | "IPv6";
            /**
             * @description The conditions that the response must meet; see Assertions.
             * @default []
             */
            assertions: components["schemas"]["ApiRequestAssertion"][];
        };
        ApiRequestAssertion: {
            /** @enum {string} */
            source: "STATUS_CODE" | "HEADERS" | "JSON_BODY" | "TEXT_BODY" | "RESPONSE_TIME";
            /** @default  */
            property: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            /** @default  */
            target: string;
            /** @default null */
            regex: string | null;
        };
        ApiRequestAssertionInput: {
            /** @enum {string} */
            source: "STATUS_CODE" | "HEADERS" | "JSON_BODY" | "TEXT_BODY" | "RESPONSE_TIME";
            property?: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            target?: string;
            regex?: string | null;
        };
        ApiRequestInput: {
            /** @description The HTTP method. */
            method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";
            /** @description An http or https URL. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value. */
            url: string;
            /** @description The request headers as {key, value}. Values of Authorization and similar headers are returned as ********. */
            headers?: components["schemas"]["KeyValueInput"][];
            /** @description Query parameters as {key, value}, added to the URL. */
            queryParameters?: components["schemas"]["KeyValueInput"][];
            /** @description The format of `body`. Sets the Content-Type unless a header does. */
            bodyType?: "JSON" | "FORM" | "RAW" | "GRAPHQL" | "NONE";
            /** @description The text of the request body. */
            body?: string;
            /** @description Credentials as {username, password}. The password is returned as ********; if it is empty, the username is. */
            basicAuth?: {
                username: string;
                password: string;
            } | null;
            /** @description Whether redirects are followed, at most 10. */
            followRedirects?: boolean;
            /** @description Whether any server certificate is accepted. */
            skipSSL?: boolean;
            /** @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6. */
            ipFamily?: "IPv4" | "IPv6";
            /** @description The conditions that the response must meet; see Assertions. */
            assertions?: components["schemas"]["ApiRequestAssertionInput"][];
        };
        Artifact: {
            id: string;
            checkId: string;
            resultId: string;
            /** @description A plain file name. */
            name: string;
            contentType: string;
            bytes: number;
            /** @description The digest of the content, in hex. */
            sha256: string;
            /** @description The URL of the content, as in jobAssets of the result. */
            url: string;
            /** Format: date-time */
            created_at: string;
        };
        AssertionResult: {
            /** @enum {string} */
            source: "STATUS_CODE" | "HEADERS" | "JSON_BODY" | "TEXT_BODY" | "RESPONSE_TIME" | "RESPONSE_DATA" | "RESPONSE_CODE" | "TEXT_ANSWER" | "JSON_ANSWER" | "LATENCY" | "JSON_RESPONSE";
            property: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            target: string;
            regex: string | null;
            actual: string | null;
            error: string | null;
        };
        AttemptSummary: {
            resultId: string;
            /** @description From 1. */
            number: number;
            location: string;
            /** @enum {string} */
            result: "passed" | "degraded" | "failed" | "error" | "cancelled";
            /** Format: date-time */
            startedAt: string;
            /** @description Milliseconds. */
            responseTime: number;
            /** @description One of the error codes; null if there is none. */
            errorCode: string | null;
            /** @description The response of the target in a few words; null if there was none. */
            response: string | null;
            /** @description The first reason for which it did not pass. */
            reason: string | null;
        };
        AuditChange: {
            /** @description With dots for fields of objects, as in `request.url`. */
            field: string;
            /** @description Left out where there was no value. */
            before?: unknown;
            /** @description Left out where there is no value any more. */
            after?: unknown;
        };
        /**
         * @example {
         *       "id": 1,
         *       "at": "2026-01-31T12:00:00.000Z",
         *       "actor": {
         *         "kind": "key",
         *         "id": "00000000-0000-4000-8000-000000000033",
         *         "name": "Homepage"
         *       },
         *       "address": "127.0.0.1",
         *       "action": "create",
         *       "kind": "location-key",
         *       "resourceId": "00000000-0000-4000-8000-000000000024",
         *       "resourceName": "pl_000000",
         *       "changes": [
         *         {
         *           "field": "id",
         *           "after": "00000000-0000-4000-8000-000000000024"
         *         },
         *         {
         *           "field": "prefix",
         *           "after": "pl_000000"
         *         }
         *       ],
         *       "droppedChanges": 0,
         *       "count": 1
         *     }
         */
        AuditEntry: {
            id: number;
            /** Format: date-time */
            at: string;
            actor: {
                /**
                 * @description `operator` is a command on the machine of the service or the link of `vedette up`, `setup` its setup link.
                 * @enum {string}
                 */
                kind: "user" | "key" | "setup" | "operator" | "unknown";
                id: string | null;
                /** @description The email of the user, or the name of the key. */
                name: string | null;
            };
            /** @description The IP address; null for a command. */
            address: string | null;
            /** @enum {string} */
            action: "create" | "update" | "delete" | "revoke" | "rotate" | "end" | "allow" | "setup" | "join" | "sign-in" | "sign-in-failed" | "sign-out" | "sign-out-everywhere" | "password-change" | "password-link";
            /** @enum {string} */
            kind: "check" | "check-group" | "alert-channel" | "alert-settings" | "maintenance-window" | "private-location" | "location-key" | "agent" | "variable" | "client-certificate" | "snippet" | "status-page" | "status-page-service" | "status-page-subscriber" | "status-page-incident" | "incident" | "error-group" | "test-session-error-group" | "test-session" | "api-key" | "user" | "invitation";
            resourceId: string | null;
            resourceName: string | null;
            /** @description Without secrets. A long value ends with `… (cut)`. */
            changes: components["schemas"]["AuditChange"][];
            /** @description Changed fields that are left out of a long entry. */
            droppedChanges: number;
            /** @description How often it happened: failed sign-ins of 15 minutes are one entry. */
            count: number;
        };
        /**
         * @example {
         *       "checkId": "homepage",
         *       "availability": 50,
         *       "runs": 2,
         *       "failures": 1,
         *       "degraded": 0,
         *       "missed": 1,
         *       "usualResponseTime": null,
         *       "days": [
         *         {
         *           "date": "2026-01-31",
         *           "availability": null,
         *           "runs": 0,
         *           "failures": 0,
         *           "degraded": 0,
         *           "missed": 0
         *         },
         *         {
         *           "date": "2026-01-31",
         *           "availability": null,
         *           "runs": 0,
         *           "failures": 0,
         *           "degraded": 0,
         *           "missed": 0
         *         }
         *       ],
         *       "quarterHours": [
         *         {
         *           "start": "2026-01-31T12:00:00.000Z",
         *           "availability": null,
         *           "runs": 0,
         *           "failures": 0,
         *           "degraded": 0
         *         },
         *         {
         *           "start": "2026-01-31T12:00:00.000Z",
         *           "availability": null,
         *           "runs": 0,
         *           "failures": 0,
         *           "degraded": 0
         *         }
         *       ]
         *     }
         */
        Availability: {
            checkId: string;
            /** @description The percentage of runs that passed, degraded ones included; null without runs. */
            availability: number | null;
            /** @description Without cancelled runs, and without those that failed by a fault of the system. Of a heartbeat: the minutes since its first ping, in `days` only. */
            runs: number;
            /** @description The runs that failed. Of a heartbeat: the minutes in which a ping was overdue. */
            failures: number;
            /** @description The runs that passed, but took longer than degradedResponseTime. */
            degraded: number;
            /** @description Slots that were not run. Availability does not contain them. */
            missed: number;
            /** @description Milliseconds, an estimate: the median of the daily averages of passed runs in the last 7 days (UTC), before the first complete day of the hourly ones. Of ICMP checks, that of the average latency. null before the first complete hour. */
            usualResponseTime: number | null;
            /** @description Days in UTC, the current one last. */
            days: {
                /** Format: date */
                date: string;
                /** @description The percentage of runs that passed, degraded ones included; null without runs. */
                availability: number | null;
                /** @description Without cancelled runs, and without those that failed by a fault of the system. Of a heartbeat: the minutes since its first ping, in `days` only. */
                runs: number;
                /** @description The runs that failed. Of a heartbeat: the minutes in which a ping was overdue. */
                failures: number;
                /** @description The runs that passed, but took longer than degradedResponseTime. */
                degraded: number;
                /** @description Slots that were not run. Availability does not contain them. */
                missed: number;
            }[];
            /** @description The last 24 hours by quarter hours, the current one last. */
            quarterHours: {
                /** Format: date-time */
                start: string;
                /** @description The percentage of runs that passed, degraded ones included; null without runs. */
                availability: number | null;
                /** @description Without cancelled runs, and without those that failed by a fault of the system. Of a heartbeat: the minutes since its first ping, in `days` only. */
                runs: number;
                /** @description The runs that failed. Of a heartbeat: the minutes in which a ping was overdue. */
                failures: number;
                /** @description The runs that passed, but took longer than degradedResponseTime. */
                degraded: number;
            }[];
        };
        BadRequestError: {
            /** @constant */
            statusCode: 400;
            /** @constant */
            error: "Bad Request";
            message: string;
            attributes: {
                /** @description The first 20 problems. */
                problems?: {
                    /** @description For example `body.request.port` or `query.limit`. */
                    path: string;
                    message: string;
                }[];
            } & {
                [key: string]: unknown;
            };
        };
        BulkChangeChecksFilterInput: {
            /** @description Only checks of this type; repeated, of any of these types. */
            type?: ("URL" | "API" | "TCP" | "DNS" | "ICMP" | "HEARTBEAT")[];
            /** @description Only checks with this tag; given several times, with any of them. */
            tag?: string[];
            /** @description Only checks in this state; given several times, in any of them. */
            state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
            /** @description Only checks with this in their name. */
            search?: string;
            /** @description true: only checks that are activated; false: only others. Groups do not count. */
            activated?: boolean;
            /** @description Only checks of this group. */
            groupId?: number;
            /** @description Only checks that run in this location, public or private. */
            location?: string;
            /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
            silent?: boolean;
            /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
            without?: ("group" | "tag" | "location")[];
        };
        /**
         * @example {
         *       "action": "mute",
         *       "filter": {
         *         "type": [
         *           "DNS"
         *         ]
         *       }
         *     }
         */
        BulkChangeChecksInput: {
            /** @enum {string} */
            action: "create";
            /** @description Each as in the body of POST /v1/checks or, with checkType HEARTBEAT, of POST /v1/checks/heartbeats. */
            checks: {
                [key: string]: unknown;
            }[];
            /** @description Whether the new checks are subscribed to all alert channels. Default: true. */
            autoAssignAlerts?: boolean;
            /** @description true: the response is that of the request, but nothing is written. */
            dryRun?: boolean;
        } | {
            /** @enum {string} */
            action: "update";
            /** @description The ids of the checks. */
            ids?: string[];
            /** @description Instead of ids: all checks that match, at most 1000. */
            filter?: components["schemas"]["BulkChangeChecksFilterInput"];
            /** @description How many checks the filter must match; for any other number the response is 409. Required to delete by a filter. */
            expected?: number;
            /** @description The fields to change in each check, as in the route of the check's type. */
            changes: {
                [key: string]: unknown;
            };
            /** @description true: the response is that of the request, but nothing is written. */
            dryRun?: boolean;
        } | {
            /**
             * @description Sets `muted`, or `activated` (pause: false, resume: true).
             * @enum {string}
             */
            action: "mute" | "unmute" | "pause" | "resume";
            /** @description The ids of the checks. */
            ids?: string[];
            /** @description Instead of ids: all checks that match, at most 1000. */
            filter?: components["schemas"]["BulkChangeChecksFilterInput"];
            /** @description How many checks the filter must match; for any other number the response is 409. Required to delete by a filter. */
            expected?: number;
            /** @description true: the response is that of the request, but nothing is written. */
            dryRun?: boolean;
        } | {
            /** @enum {string} */
            action: "delete";
            /** @description The ids of the checks. */
            ids?: string[];
            /** @description Instead of ids: all checks that match, at most 1000. */
            filter?: components["schemas"]["BulkChangeChecksFilterInput"];
            /** @description How many checks the filter must match; for any other number the response is 409. Required to delete by a filter. */
            expected?: number;
            /** @description true: the response is that of the request, but nothing is written. */
            dryRun?: boolean;
        } | {
            /** @enum {string} */
            action: "run";
            /** @description The ids of the checks. */
            ids?: string[];
            /** @description Instead of ids: all checks that match, at most 1000. */
            filter?: components["schemas"]["BulkChangeChecksFilterInput"];
            /** @description How many checks the filter must match; for any other number the response is 409. Required to delete by a filter. */
            expected?: number;
            /** @description As in the body of POST /v1/checks/{id}/run. */
            location?: string | null;
            /** @description true: the response is that of the request, but nothing is written. */
            dryRun?: boolean;
        };
        /**
         * @example {
         *       "dryRun": false,
         *       "counts": {
         *         "total": 2,
         *         "succeeded": 2,
         *         "failed": 0
         *       },
         *       "results": [
         *         {
         *           "index": 0,
         *           "id": "shop-dns",
         *           "status": 200
         *         },
         *         {
         *           "index": 1,
         *           "id": "00000000-0000-4000-8000-000000000008",
         *           "status": 200
         *         }
         *       ]
         *     }
         */
        BulkChangeChecksResponse: {
            /** @description Whether nothing was written. */
            dryRun: boolean;
            counts: {
                total: number;
                succeeded: number;
                /** @description Those with an `error`. */
                failed: number;
            };
            results: {
                /** @description The position in `checks`, `ids` or the checks of the filter, from 0. */
                index: number;
                /** @description The id of the check; null if none was created. */
                id: string | null;
                /** @description The status of the response to the request for this check alone. */
                status: number;
                /** @description The path of what was created: the check or, for `run`, the run. */
                location?: string;
                /** @description The body of the response to the request for this check alone. */
                error?: components["schemas"]["Readiness"];
            }[];
        };
        Certificate: {
            subject: string;
            issuer: string;
            subjectAltNames: string[];
            validFrom: string;
            validTo: string;
            daysRemaining: number;
            serialNumber: string;
            fingerprint256: string;
        };
        Certificate2: {
            checkId: string;
            /** @description Of the check. */
            name: string;
            /** @enum {string} */
            checkType: "URL" | "API" | "TCP" | "DNS" | "ICMP" | "HEARTBEAT";
            activated: boolean;
            /** @description Whole days until it expires, as of now; negative once it has expired. */
            daysRemaining: number;
            /**
             * Format: date-time
             * @description The slot of the run that saw it last.
             */
            seenAt: string;
            /** @description Of that run; null if its result is gone. */
            location: string | null;
            /** @description Whether the agent trusts it for the host. */
            authorized: boolean | null;
            /** @description For example TLSv1.3. */
            protocol: string | null;
            /** @description null if the result of that run is gone. */
            certificate: components["schemas"]["Certificate2Certificate"] | null;
        };
        Certificate2Certificate: {
            subject: string;
            issuer: string;
            validFrom: string;
            validTo: string;
            serialNumber: string;
            /** @description The same for all checks that see this certificate. */
            fingerprint256: string;
            /** @description The first 50 of its alternative names. */
            names: string[];
            nameCount: number;
        };
        ChangePasswordInput: {
            currentPassword: string;
            /** @description 8 to 256 characters of any kind. */
            newPassword: string;
        };
        /**
         * @example {
         *       "checkType": "URL",
         *       "name": "Homepage",
         *       "activated": true,
         *       "muted": false,
         *       "doubleCheck": true,
         *       "shouldFail": false,
         *       "locations": null,
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "tags": [],
         *       "alertSettings": {
         *         "escalationType": "RUN_BASED",
         *         "runBasedEscalation": {
         *           "failedRunThreshold": 1
         *         },
         *         "reminders": {
         *           "amount": 0,
         *           "interval": 5
         *         },
         *         "parallelRunFailureThreshold": {
         *           "enabled": false,
         *           "percentage": 10
         *         }
         *       },
         *       "useGlobalAlertSettings": true,
         *       "groupId": null,
         *       "groupOrder": null,
         *       "runtimeId": null,
         *       "alertChannelSubscriptions": [],
         *       "runParallel": false,
         *       "variables": [],
         *       "description": null,
         *       "frequency": 10,
         *       "degradedResponseTime": 3000,
         *       "maxResponseTime": 5000,
         *       "request": {
         *         "url": "https://example.com/",
         *         "method": "GET",
         *         "followRedirects": true,
         *         "skipSSL": false,
         *         "ipFamily": "IPv4",
         *         "assertions": []
         *       },
         *       "id": "00000000-0000-4000-8000-000000000004",
         *       "created_at": "2026-01-31",
         *       "updated_at": null,
         *       "alertChannels": {
         *         "email": [],
         *         "webhook": [],
         *         "slack": [],
         *         "sms": []
         *       },
         *       "warnings": [
         *         {
         *           "code": "LOCATION_WITHOUT_AGENTS",
         *           "message": "No agent of the private location office is connected, so nothing runs there. Start an agent with a key of this location.",
         *           "path": "privateLocations[0]"
         *         }
         *       ]
         *     }
         */
        Check: components["schemas"]["UrlCheck"] | components["schemas"]["ApiCheck"] | components["schemas"]["TcpCheck"] | components["schemas"]["DnsCheck"] | components["schemas"]["IcmpCheck"] | components["schemas"]["HeartbeatCheck"];
        /**
         * @example {
         *       "name": "Homepage",
         *       "id": "00000000-0000-4000-8000-000000000034",
         *       "checkId": "homepage",
         *       "alertType": "ALERT_FAILURE",
         *       "checkType": "URL",
         *       "isOpen": true,
         *       "runLocation": "shop-place",
         *       "resultId": "00000000-0000-4000-8000-000000000032",
         *       "responseTime": 11.75,
         *       "error": "shop refused the connection",
         *       "statusCode": null,
         *       "deliveries": {
         *         "sent": 0,
         *         "pending": 0,
         *         "failed": 1
         *       },
         *       "created_at": "2026-01-31",
         *       "startedAt": "2026-01-31T12:00:00.000Z",
         *       "alertedAt": "2026-01-31T12:00:00.000Z"
         *     }
         */
        CheckAlert: {
            /** @description The name of the check when the alert was given. */
            name: string;
            /** Format: uuid */
            id: string;
            checkId: string;
            /** @enum {string} */
            alertType: "NO_ALERT" | "ALERT_FAILURE" | "ALERT_FAILURE_REMAIN" | "ALERT_FAILURE_DEGRADED" | "ALERT_RECOVERY" | "ALERT_DEGRADED" | "ALERT_DEGRADED_REMAIN" | "ALERT_DEGRADED_FAILURE" | "ALERT_DEGRADED_RECOVERY" | "ALERT_SSL";
            /** @enum {string} */
            checkType: "AGENTIC" | "API" | "BROWSER" | "HEARTBEAT" | "ICMP" | "MULTI_STEP" | "TCP" | "PLAYWRIGHT" | "URL" | "DNS";
            /** @description Whether it is the latest alert of a check that has not recovered since. */
            isOpen: boolean;
            runLocation: string;
            /** @description The check result that led to the alert; null for a heartbeat, and for alerts of earlier releases. */
            resultId: string | null;
            /** @description Milliseconds. */
            responseTime: number;
            /** @description What led to the alert; null if nothing failed. */
            error: string | null;
            /** @description The HTTP status of URL and API checks; null without a response. */
            statusCode: string | null;
            /** @description How many deliveries of the alert and of its reminders are in which state. */
            deliveries: components["schemas"]["CheckAlertDeliveries"];
            /**
             * Format: date
             * @description The day on which the alert was given, in UTC.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the run that led to the alert began.
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When the alert was given: `from` and `to` go by it.
             */
            alertedAt: string;
        };
        CheckAlertChannels: {
            email: {
                address: string;
            }[];
            webhook: components["schemas"]["CheckAlertChannelsWebhook"][];
            slack: {
                url: string;
            }[];
            sms: {
                number: string;
                name: string;
            }[];
            /** @description How many more channels receive its alerts, whose data would exceed 64 KiB in total. They are in alertChannelSubscriptions. */
            omitted?: number;
        };
        CheckAlertChannelsWebhook: {
            url: string;
            name: string;
            method: string;
            headers: components["schemas"]["CheckAlertChannelsWebhookHeader"][];
            queryParameters: components["schemas"]["CheckAlertChannelsWebhookHeader"][];
        };
        CheckAlertChannelsWebhookHeader: {
            key: string;
            value: string;
            locked: boolean;
        };
        CheckAlertDeliveries: {
            sent: number;
            pending: number;
            failed: number;
        };
        /**
         * @example {
         *       "name": "Shop",
         *       "activated": true,
         *       "muted": false,
         *       "locations": null,
         *       "privateLocations": null,
         *       "tags": [],
         *       "concurrency": 3,
         *       "runtimeId": null,
         *       "alertSettings": null,
         *       "useGlobalAlertSettings": true,
         *       "logicalId": null,
         *       "id": 1,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        CheckGroup: {
            /** @description The name of the group. */
            name: string;
            /**
             * @description Whether the checks of the group run.
             * @default true
             */
            activated: boolean;
            /**
             * @description Whether the checks of the group send no alerts.
             * @default false
             */
            muted: boolean;
            /**
             * @description Public locations that run the checks of the group.
             * @default null
             */
            locations: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /**
             * @description Private locations that run the checks of the group. If there are any, they replace those of the checks.
             * @default null
             */
            privateLocations: string[] | null;
            /**
             * @description Labels for grouping and filtering.
             * @default []
             */
            tags: string[];
            /**
             * @description How many checks run at once when the group is triggered.
             * @default 3
             */
            concurrency: number;
            /**
             * @description Stored but not used: the agent runs no user code.
             * @default null
             */
            runtimeId: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /**
             * @description When failures send alerts. These settings replace those of the checks.
             * @default null
             */
            alertSettings: components["schemas"]["AlertSettings"] | null;
            /**
             * @description Whether the alert settings of the account replace those of the group.
             * @default true
             */
            useGlobalAlertSettings: boolean;
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            id: number;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
            /** @description What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests. */
            warnings?: components["schemas"]["Warning"][];
        };
        CheckGroupChanges: {
            /** @description The name of the group. */
            name?: string;
            /** @description Whether the checks of the group run. */
            activated?: boolean;
            /** @description Whether the checks of the group send no alerts. */
            muted?: boolean;
            /** @description Public locations that run the checks of the group. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the checks of the group. If there are any, they replace those of the checks. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description How many checks run at once when the group is triggered. */
            concurrency?: number;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description When failures send alerts. These settings replace those of the checks. */
            alertSettings?: components["schemas"]["AlertSettingsInput"] | null;
            /** @description Whether the alert settings of the account replace those of the group. */
            useGlobalAlertSettings?: boolean;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            readonly warnings?: unknown;
            /** @description The same as in the path. */
            id?: number;
        };
        /**
         * @example {
         *       "name": "Shop"
         *     }
         */
        CheckGroupInput: {
            /** @description The name of the group. */
            name: string;
            /** @description Whether the checks of the group run. */
            activated?: boolean;
            /** @description Whether the checks of the group send no alerts. */
            muted?: boolean;
            /** @description Public locations that run the checks of the group. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the checks of the group. If there are any, they replace those of the checks. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description How many checks run at once when the group is triggered. */
            concurrency?: number;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description When failures send alerts. These settings replace those of the checks. */
            alertSettings?: components["schemas"]["AlertSettingsInput"] | null;
            /** @description Whether the alert settings of the account replace those of the group. */
            useGlobalAlertSettings?: boolean;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            readonly warnings?: unknown;
        };
        /**
         * @example {
         *       "name": "Homepage",
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "checkType": "URL",
         *       "request": {
         *         "url": "https://example.com/"
         *       }
         *     }
         */
        CheckInput: components["schemas"]["TypedUrlCheckInput"] | components["schemas"]["TypedApiCheckInput"] | components["schemas"]["TypedTcpCheckInput"] | components["schemas"]["TypedDnsCheckInput"] | components["schemas"]["TypedIcmpCheckInput"];
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000025",
         *       "name": "Homepage",
         *       "checkId": "homepage",
         *       "attempts": 0,
         *       "checkType": "URL",
         *       "hasErrors": false,
         *       "startedAt": "2026-01-31T12:00:00.000Z",
         *       "stoppedAt": "2026-01-31T12:00:00.000Z",
         *       "checkRunId": 1769860800000,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "isDegraded": false,
         *       "resultType": "FINAL",
         *       "sequenceId": "00000000-0000-4000-8000-000000000026",
         *       "hasFailures": false,
         *       "isCancelled": false,
         *       "runLocation": "shop-place",
         *       "responseTime": 11.75,
         *       "errorGroupIds": [],
         *       "apiCheckResult": {
         *         "jobLog": [],
         *         "request": {
         *           "url": "http://127.0.0.1/",
         *           "data": "",
         *           "method": "GET",
         *           "params": {},
         *           "headers": {}
         *         },
         *         "response": {
         *           "ip": "127.0.0.1",
         *           "tls": null,
         *           "url": "http://127.0.0.1/",
         *           "body": "ok",
         *           "status": 200,
         *           "headers": {},
         *           "timings": {
         *             "end": 11.75,
         *             "lookup": 1.5,
         *             "socket": 0,
         *             "connect": 3.5,
         *             "response": 11.5,
         *             "secureConnect": null
         *           },
         *           "ipFamily": "IPv4",
         *           "bodyBytes": 2,
         *           "redirects": [],
         *           "statusText": "OK",
         *           "httpVersion": "1.1",
         *           "bodyEncoding": "text",
         *           "timingPhases": {
         *             "dns": 1.5,
         *             "tcp": 2,
         *             "tls": 0,
         *             "wait": 0,
         *             "total": 11.75,
         *             "download": 0.25,
         *             "firstByte": 8
         *           },
         *           "bodyTruncated": false
         *         },
         *         "jobAssets": [],
         *         "assertions": [],
         *         "traceroute": null,
         *         "requestError": null,
         *         "requestErrorCode": null
         *       },
         *       "dnsCheckResult": null,
         *       "tcpCheckResult": null,
         *       "icmpCheckResult": null,
         *       "browserCheckResult": null,
         *       "overMaxResponseTime": false,
         *       "multiStepCheckResult": null
         *     }
         */
        CheckResult: {
            /** @enum {string} */
            resultType: "FINAL" | "ATTEMPT";
            id: string;
            name: string;
            checkId: string;
            /** @enum {string} */
            checkType: "URL" | "API" | "TCP" | "DNS" | "ICMP";
            hasFailures: boolean;
            hasErrors: boolean;
            isDegraded: boolean;
            isCancelled: boolean;
            overMaxResponseTime: boolean;
            runLocation: string;
            /** Format: date-time */
            startedAt: string;
            /** Format: date-time */
            stoppedAt: string;
            /** Format: date-time */
            created_at: string;
            responseTime: number;
            tcpCheckResult: components["schemas"]["TcpCheckResult"] | null;
            dnsCheckResult: components["schemas"]["DnsCheckResult"] | null;
            icmpCheckResult: components["schemas"]["IcmpCheckResult"] | null;
            browserCheckResult: null;
            multiStepCheckResult: null;
            checkRunId: number;
            attempts: number;
            sequenceId: string;
            errorGroupIds: string[];
            /** @description Of URL and API checks. */
            apiCheckResult?: components["schemas"]["HttpCheckResult"];
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000027",
         *       "checkId": "shop-tcp",
         *       "location": "shop-place",
         *       "reason": "requested",
         *       "state": "assigned",
         *       "slot": "2026-01-31T12:00:00.000Z",
         *       "checkRunId": 1769860800000,
         *       "sequenceId": "00000000-0000-4000-8000-000000000028",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "notAfter": "2026-01-31T12:00:00.000Z",
         *       "resultId": null,
         *       "createdAt": "2026-01-31T12:00:00.000Z"
         *     }
         */
        CheckRun: {
            id: string;
            checkId: string;
            /** @description The private location that makes the run. */
            location: string;
            /**
             * @description `requested` by an API call, or `retry`: another location handed it over.
             * @enum {string}
             */
            reason: "requested" | "retry";
            /**
             * @description `waiting` for an agent, `assigned` to one, `done`: its final result is stored, `expired`: no agent made it in time.
             * @enum {string}
             */
            state: "waiting" | "assigned" | "done" | "expired";
            /**
             * Format: date-time
             * @description When it is due, which identifies it.
             */
            slot: string;
            /** @description The `checkRunId` of its results: the slot in milliseconds. */
            checkRunId: number;
            /** @description The `sequenceId` of its results. */
            sequenceId: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description The run does not start after this time.
             */
            notAfter: string;
            /** @description The id of its final result; null until it is stored. */
            resultId: string | null;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as created_at.
             */
            createdAt: string;
        };
        CheckStateBreakdown: {
            /** @description Those with the most failing checks first, then those with the most degraded and the most unknown ones, then by name. */
            entries: {
                /** @description The tag, the id of the group, or the location, as the filter takes it; null: the checks without any. */
                value: string | null;
                /** @description Of a group or a private location; null otherwise. */
                name: string | null;
                /** @description Since when no agent of the private location polls; null otherwise. */
                silentSince: string | null;
                counts: components["schemas"]["CheckStateCounts"];
            }[];
            /** @description How many more there are, after the first 500. */
            omitted: number;
        };
        CheckStateCounts: {
            failing: number;
            degraded: number;
            unknown: number;
            passing: number;
            paused: number;
        };
        /**
         * @example {
         *       "name": "Homepage",
         *       "checkId": "homepage",
         *       "checkType": "URL",
         *       "activated": true,
         *       "muted": false,
         *       "tags": [
         *         "shop"
         *       ],
         *       "groupId": 2,
         *       "state": "failing",
         *       "since": "2026-01-31T12:00:00.000Z",
         *       "unknownReason": null,
         *       "hasFailures": true,
         *       "hasErrors": false,
         *       "isDegraded": false,
         *       "longestRun": 11.75,
         *       "shortestRun": 11.75,
         *       "lastRunAt": "2026-01-31T12:00:00.000Z",
         *       "lastRunLocation": "shop-place",
         *       "lastCheckRunId": "1769860800000",
         *       "lastResponseTime": 11.75,
         *       "usualResponseTime": null,
         *       "lastError": {
         *         "code": "CONNECT_REFUSED",
         *         "message": "shop refused the connection",
         *         "location": "shop-place",
         *         "at": "2026-01-31T12:00:00.000Z"
         *       },
         *       "sslDaysRemaining": 5,
         *       "heartbeat": null,
         *       "created_at": "2026-01-31",
         *       "updated_at": null
         *     }
         */
        CheckStatus: {
            name: string;
            checkId: string;
            /** @enum {string} */
            checkType: "URL" | "API" | "TCP" | "DNS" | "ICMP" | "HEARTBEAT";
            activated: boolean;
            muted: boolean;
            tags: string[];
            groupId: number | null;
            /** @description The private and public locations in which the check runs; of a heartbeat none. */
            locations: string[];
            /**
             * @description unknown: nothing is known of the target, see unknownReason. paused: the check or its group is off.
             * @enum {string}
             */
            state: "failing" | "degraded" | "unknown" | "passing" | "paused";
            /** @description The slot in which the state began. null if it is not known. */
            since: string | null;
            /** @description location_silent: no agent of any private location of the check polls. no_result: no run has judged the target yet. null in another state. */
            unknownReason: ("location_silent" | "no_result") | null;
            /** @description The check is failing now. */
            hasFailures: boolean;
            /** @description The last run could not be judged, because of a system error. */
            hasErrors: boolean;
            /** @description The last run took longer than degradedResponseTime. */
            isDegraded: boolean;
            /** @description The longest response time ever, in ms. */
            longestRun: number | null;
            /** @description The shortest response time ever, in ms. */
            shortestRun: number | null;
            /** @description The slot of the last run. */
            lastRunAt: string | null;
            lastRunLocation: string | null;
            lastCheckRunId: string | null;
            /** @description Of the last run, in ms; null after a system error. */
            lastResponseTime: number | null;
            /** @description In ms: the median of the daily averages of passed runs in the last 7 days (UTC), before the first complete day of the hourly ones; of ICMP checks, that of the average latency. null before the first complete hour. */
            usualResponseTime: number | null;
            /** @description The error of the last run that failed; null if none failed. */
            lastError: components["schemas"]["CheckStatusLastError"] | null;
            /** @description As of the last run that saw a certificate. */
            sslDaysRemaining: number | null;
            /** @description null for checks of other types. */
            heartbeat: components["schemas"]["CheckStatusHeartbeat"] | null;
            /** @description Only with cells=true: the last 24 hours in 96 cells, the current one last; one number for each cell. */
            cells?: components["schemas"]["CheckStatusCells"];
            /**
             * Format: date
             * @description The day of its first run, in UTC; omitted if there was none.
             */
            created_at?: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        CheckStatusCells: {
            /**
             * Format: date-time
             * @description When the first cell begins.
             */
            from: string;
            /**
             * @description The length of a cell.
             * @enum {number}
             */
            minutes: 15;
            /** @description Without cancelled runs and faults of the system. */
            runs: number[];
            /** @description The runs that failed. */
            failures: number[];
            /** @description The runs that passed, but were degraded. */
            degraded: number[];
            /** @description The slots that were not run. */
            missed: number[];
        };
        CheckStatusHeartbeat: {
            /** @description The time between expected pings. */
            periodSeconds: number;
            /** @description How late a ping may be. */
            graceSeconds: number;
            /** @description null before the first ping. */
            lastPingAt: string | null;
            /** @description When it fails if no ping comes. null while nothing is due: before the first ping, while it fails, and while it is not activated. */
            failsAt: string | null;
        };
        CheckStatusLastError: {
            /** @description null if the target answered. */
            code: string | null;
            /** @description At most 500 bytes. */
            message: string | null;
            location: string;
            /**
             * Format: date-time
             * @description The slot of the run.
             */
            at: string;
        };
        CheckStatusPageDomainResponse: {
            customDomain: string;
            /** @description Whether readers get the page there, by HTTPS. */
            isReady: boolean;
            /** @description Its addresses, by the name servers of the service, without those that DELIVERY_DENY denies. */
            addresses: string[];
            /** @description The name that it is an alias of; null for none, and if all its addresses are denied. */
            cname: string | null;
            /** @description UNKNOWN_NAME: there is no record. NO_ANSWER: no server answers, or DELIVERY_DENY denies all addresses. OTHER_SERVER: the answer is not from this service. NO_TLS: it works by HTTP only. */
            problem: ("UNKNOWN_NAME" | "NO_ANSWER" | "OTHER_SERVER" | "NO_TLS") | null;
            /** @description What to do. */
            advice: string;
        };
        CheckVariable: {
            /** @description The name of the variable in templates. */
            key: string;
            /**
             * @description Whether the value is masked wherever it would appear.
             * @default false
             */
            secret: boolean;
            /** @description null if it is secret. */
            value: string | null;
        };
        CheckVariableChanges: {
            /** @description The name of the variable in templates. */
            key: string;
            /** @description Whether the value is masked wherever it would appear. */
            secret?: boolean;
            /** @description null or omitted for a secret variable keeps the stored value. */
            value?: string | null;
        };
        CheckVariableInput: {
            /** @description The name of the variable in templates. */
            key: string;
            /** @description The value that replaces the template. */
            value: string;
            /** @description Whether the value is masked wherever it would appear. */
            secret?: boolean;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000013",
         *       "host": "mtls.example.com",
         *       "cert": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----",
         *       "ca": null,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        ClientCertificate: {
            id: string;
            /** @description The host that the certificate is sent to: a domain without scheme. `*.` at its start matches one label. */
            host: string;
            /** @description The certificate in PEM, followed by the certificates of its chain. */
            cert: string;
            ca: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        ClientCertificateChanges: {
            /** @description The host that the certificate is sent to: a domain without scheme. `*.` at its start matches one label. */
            host?: string;
            /** @description The certificate in PEM, followed by the certificates of its chain. */
            cert?: string;
            /** @description The private key in PEM. It is stored encrypted and never returned. */
            key?: string;
            /** @description The passphrase of the private key, if the key is encrypted. */
            passphrase?: string | null;
            /** @description CA certificates in PEM that are trusted for this host, in addition to the usual ones. */
            ca?: string | null;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "host": "mtls.example.com",
         *       "cert": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----",
         *       "key": "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----"
         *     }
         */
        ClientCertificateInput: {
            /** @description The host that the certificate is sent to: a domain without scheme. `*.` at its start matches one label. */
            host: string;
            /** @description The certificate in PEM, followed by the certificates of its chain. */
            cert: string;
            /** @description The private key in PEM. It is stored encrypted and never returned. */
            key: string;
            /** @description The passphrase of the private key, if the key is encrypted. */
            passphrase?: string | null;
            /** @description CA certificates in PEM that are trusted for this host, in addition to the usual ones. */
            ca?: string | null;
        };
        ClientCertificateU: {
            id: string;
            host: string;
            daysRemaining: number | null;
            /** @description null if it cannot be read. */
            certificate: components["schemas"]["Certificate2Certificate"] | null;
            /** @description URL and API checks with an https address whose host it matches. Hosts with variables do not count. */
            checkCount: number;
            /** @description The first 100 of them by name. */
            checks: {
                id: string;
                name: string;
            }[];
        };
        CompareAlertChannelResponse: {
            /** @description Whether the channel has exactly this configuration. */
            same: boolean;
        };
        ConflictError: {
            /** @constant */
            statusCode: 409;
            /** @constant */
            error: "Conflict";
            message: string;
            /** @description Data for programs, depending on the status. */
            attributes: {
                [key: string]: unknown;
            };
        };
        ContentTooLargeError: {
            /** @constant */
            statusCode: 413;
            /** @constant */
            error: "Payload Too Large";
            message: string;
            attributes: {
                limitBytes?: number;
            } & {
                [key: string]: unknown;
            };
        };
        CurrentSession: {
            user: {
                id: string;
                email: string;
            };
            /** @description Those of the user. Requests without `x-service-account` are about the first. */
            accounts: {
                id: string;
                name: string;
                /** @enum {string} */
                role: "read" | "run" | "write" | "admin";
            }[];
        };
        DnsAnswer: {
            Status: number;
            TC: boolean;
            RD: boolean;
            RA: boolean;
            AD: boolean;
            CD: boolean;
            Question: {
                name: string;
                type: string;
            }[];
            Answer: components["schemas"]["DnsAnswerAnswer"][];
        };
        DnsAnswerAnswer: {
            name: string;
            type: string;
            TTL: number;
            data: string;
        };
        /**
         * @example {
         *       "checkType": "DNS",
         *       "name": "Homepage",
         *       "activated": true,
         *       "muted": false,
         *       "doubleCheck": true,
         *       "shouldFail": false,
         *       "locations": null,
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "tags": [],
         *       "alertSettings": {
         *         "escalationType": "RUN_BASED",
         *         "runBasedEscalation": {
         *           "failedRunThreshold": 1
         *         },
         *         "reminders": {
         *           "amount": 0,
         *           "interval": 5
         *         },
         *         "parallelRunFailureThreshold": {
         *           "enabled": false,
         *           "percentage": 10
         *         }
         *       },
         *       "useGlobalAlertSettings": true,
         *       "groupId": null,
         *       "groupOrder": null,
         *       "runtimeId": null,
         *       "alertChannelSubscriptions": [],
         *       "runParallel": false,
         *       "variables": [],
         *       "description": null,
         *       "frequency": 10,
         *       "degradedResponseTime": 500,
         *       "maxResponseTime": 1000,
         *       "request": {
         *         "query": "example.com",
         *         "recordType": "A",
         *         "nameServer": null,
         *         "port": 53,
         *         "protocol": "UDP",
         *         "assertions": []
         *       },
         *       "id": "00000000-0000-4000-8000-000000000008",
         *       "created_at": "2026-01-31",
         *       "updated_at": null,
         *       "alertChannels": {
         *         "email": [],
         *         "webhook": [],
         *         "slack": [],
         *         "sms": []
         *       },
         *       "warnings": [
         *         {
         *           "code": "LOCATION_WITHOUT_AGENTS",
         *           "message": "No agent of the private location office is connected, so nothing runs there. Start an agent with a key of this location.",
         *           "path": "privateLocations[0]"
         *         }
         *       ]
         *     }
         */
        DnsCheck: {
            /** @enum {string} */
            checkType: "DNS";
            /** @description The name of the check. */
            name: string;
            /**
             * @description Whether the check runs.
             * @default true
             */
            activated: boolean;
            /**
             * @description Whether the check sends no alerts.
             * @default false
             */
            muted: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             * @default true
             */
            doubleCheck: boolean;
            /**
             * @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes.
             * @default false
             */
            shouldFail: boolean;
            /**
             * @description Public locations that run the check. Not needed in a check file.
             * @default null
             */
            locations: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /**
             * @description Private locations that run the check. Not needed in a check file.
             * @default null
             */
            privateLocations: string[] | null;
            /**
             * @description Labels for grouping and filtering.
             * @default []
             */
            tags: string[];
            /** @description When a failure sends alerts. */
            alertSettings: components["schemas"]["AlertSettings"];
            /**
             * @description Whether the alert settings of the account replace those of the check.
             * @default true
             */
            useGlobalAlertSettings: boolean;
            /**
             * @description The id of the group that the check belongs to.
             * @default null
             */
            groupId: number | null;
            /**
             * @description The position of the check in its group.
             * @default null
             */
            groupOrder: number | null;
            /**
             * @description Stored but not used: the agent runs no user code.
             * @default null
             */
            runtimeId: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /**
             * @description The alert channels that are notified of the check.
             * @default []
             */
            alertChannelSubscriptions: {
                alertChannelId: number;
                /** @default true */
                activated: boolean;
            }[];
            /** @description How a failed run is retried; omitted if `doubleCheck` decides. */
            retryStrategy?: components["schemas"]["RetryStrategy"];
            /** @description The incident that a failure opens; omitted if there is none. */
            triggerIncident?: components["schemas"]["TriggerIncident"];
            /**
             * @description Whether all locations run every slot. If false, they run the slots in rotation.
             * @default false
             */
            runParallel: boolean;
            /** @description Values for the check's templates; they take precedence over all other variables. */
            variables: components["schemas"]["CheckVariable"][];
            /**
             * @description A note for users.
             * @default null
             */
            description: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @default 10
             * @enum {number}
             */
            frequency: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description The offset of the slots; omitted if the id decides. */
            frequencyOffset?: number;
            /**
             * @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold.
             * @default 500
             */
            degradedResponseTime: number | null;
            /**
             * @description Milliseconds. A run fails if its response time is longer. null disables the threshold.
             * @default 1000
             */
            maxResponseTime: number | null;
            request: components["schemas"]["DnsRequest"];
            id: string;
            /**
             * Format: date
             * @description The day of its creation, in UTC.
             */
            created_at: string;
            /** @description null until the first update. */
            updated_at: string | null;
            alertChannels: components["schemas"]["CheckAlertChannels"];
            /** @description What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests. */
            warnings?: components["schemas"]["Warning"][];
        };
        DnsCheckChanges: {
            /** @description The name of the check. */
            name?: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /** @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted. */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableChanges"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @enum {number}
             */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request?: components["schemas"]["DnsRequestInput"];
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            readonly alertChannels?: unknown;
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "DNS";
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "name": "Homepage",
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "request": {
         *         "query": "example.com"
         *       }
         *     }
         */
        DnsCheckInput: {
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request: components["schemas"]["DnsRequestInput"];
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "DNS";
        };
        DnsCheckResult: {
            request: components["schemas"]["DnsCheckResultRequest"];
            response: components["schemas"]["DnsCheckResultResponse"] | null;
            assertions: components["schemas"]["AssertionResult"][];
            requestError: string | null;
            requestErrorCode: string | null;
            jobLog: components["schemas"]["JobLogEntry"][];
            jobAssets: string[];
            pcapDataUrl: string | null;
            /** @default null */
            traceroute: components["schemas"]["Traceroute"] | null;
            timing?: {
                uncertaintyMs: number;
                clock: string;
            };
            timings: {
                end: number;
            };
            timingPhases: {
                total: number;
            };
        };
        DnsCheckResultRequest: {
            query: string;
            recordType: string;
            nameServer: string | null;
            port: number;
            /** @enum {string} */
            protocol: "UDP" | "TCP";
        };
        DnsCheckResultResponse: {
            responseCode: string;
            answer: components["schemas"]["DnsAnswer"];
            text: string;
            nameServer: components["schemas"]["DnsCheckResultResponseNameServer"];
        };
        DnsCheckResultResponseNameServer: {
            host: string;
            port: number;
            /** @enum {string} */
            protocol: "UDP" | "TCP";
        };
        DnsRequest: {
            /** @description The name to look up. */
            query: string;
            /**
             * @description The record type.
             * @default A
             * @enum {string}
             */
            recordType: "A" | "AAAA" | "CNAME" | "MX" | "TXT" | "SOA" | "NS" | "SRV" | "CAA" | "PTR" | "HTTPS";
            /**
             * @description The name server to query. If omitted, the name servers of the system in their order.
             * @default null
             */
            nameServer: string | null;
            /**
             * @description The port to connect to.
             * @default 53
             */
            port: number;
            /**
             * @description The transport protocol. A truncated UDP response is requested again over TCP.
             * @default UDP
             * @enum {string}
             */
            protocol: "UDP" | "TCP";
            /**
             * @description The conditions that the response must meet; see Assertions.
             * @default []
             */
            assertions: components["schemas"]["DnsRequestAssertion"][];
        };
        DnsRequestAssertion: {
            /** @enum {string} */
            source: "RESPONSE_CODE" | "RESPONSE_TIME" | "TEXT_ANSWER" | "JSON_ANSWER";
            /** @default  */
            property: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            /** @default  */
            target: string;
            /** @default null */
            regex: string | null;
        };
        DnsRequestAssertionInput: {
            /** @enum {string} */
            source: "RESPONSE_CODE" | "RESPONSE_TIME" | "TEXT_ANSWER" | "JSON_ANSWER";
            property?: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            target?: string;
            regex?: string | null;
        };
        DnsRequestInput: {
            /** @description The name to look up. */
            query: string;
            /** @description The record type. */
            recordType?: "A" | "AAAA" | "CNAME" | "MX" | "TXT" | "SOA" | "NS" | "SRV" | "CAA" | "PTR" | "HTTPS";
            /** @description The name server to query. If omitted, the name servers of the system in their order. */
            nameServer?: string | null;
            /** @description The port to connect to. */
            port?: number;
            /** @description The transport protocol. A truncated UDP response is requested again over TCP. */
            protocol?: "UDP" | "TCP";
            /** @description The conditions that the response must meet; see Assertions. */
            assertions?: components["schemas"]["DnsRequestAssertionInput"][];
        };
        EmailAlertChannel: {
            /** @enum {string} */
            type: "EMAIL";
            config: {
                /** @description One e-mail address. */
                address: string;
            };
            /**
             * @description Whether the channel is notified of failures.
             * @default true
             */
            sendFailure: boolean;
            /**
             * @description Whether the channel is notified when a failing or degraded check passes again.
             * @default true
             */
            sendRecovery: boolean;
            /**
             * @description Whether the channel is notified of degraded checks.
             * @default false
             */
            sendDegraded: boolean;
            /**
             * @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures.
             * @default null
             */
            sendLocationSilent: boolean | null;
            /**
             * @description Whether the channel is notified of certificates that expire soon.
             * @default false
             */
            sslExpiry: boolean;
            /**
             * @description How many days before a certificate expires the channel is notified, once.
             * @default 30
             */
            sslExpiryThreshold: number;
            /**
             * @description The checks that the channel is notified of.
             * @default []
             */
            subscriptions: {
                /** @description The id of the check. */
                checkId: string;
                /**
                 * @description Whether the channel is notified of the check.
                 * @default true
                 */
                activated: boolean;
            }[];
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            id: number;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        EmailAlertChannelInput: {
            /** @enum {string} */
            type: "EMAIL";
            config: {
                /** @description One e-mail address. */
                address: string;
            };
            /** @description Whether the channel is notified of failures. */
            sendFailure?: boolean;
            /** @description Whether the channel is notified when a failing or degraded check passes again. */
            sendRecovery?: boolean;
            /** @description Whether the channel is notified of degraded checks. */
            sendDegraded?: boolean;
            /** @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures. */
            sendLocationSilent?: boolean | null;
            /** @description Whether the channel is notified of certificates that expire soon. */
            sslExpiry?: boolean;
            /** @description How many days before a certificate expires the channel is notified, once. */
            sslExpiryThreshold?: number;
            /** @description The checks that the channel is notified of. */
            subscriptions?: {
                /** @description The id of the check. */
                checkId: string;
                /** @description Whether the channel is notified of the check. */
                activated?: boolean;
            }[];
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
        };
        /**
         * @example {
         *       "plan": "unlimited",
         *       "planDisplayName": "Unlimited",
         *       "locations": {
         *         "all": [
         *           {
         *             "id": "us-east-1",
         *             "name": "us-east-1",
         *             "available": false
         *           },
         *           {
         *             "id": "us-east-2",
         *             "name": "us-east-2",
         *             "available": false
         *           }
         *         ],
         *         "maxPerCheck": 1000
         *       },
         *       "entitlements": [
         *         {
         *           "key": "checks",
         *           "name": "Checks of all types that agents run",
         *           "description": "As many as wanted.",
         *           "type": "metered",
         *           "enabled": true
         *         },
         *         {
         *           "key": "heartbeats",
         *           "name": "Heartbeat checks",
         *           "description": "As many as wanted.",
         *           "type": "metered",
         *           "enabled": true
         *         }
         *       ],
         *       "addons": {
         *         "communicate": {
         *           "tier": "unlimited",
         *           "tierDisplayName": "Unlimited"
         *         },
         *         "resolve": {
         *           "tier": "unlimited",
         *           "tierDisplayName": "Unlimited"
         *         }
         *       }
         *     }
         */
        Entitlements: {
            plan: string;
            planDisplayName: string;
            locations: {
                all: {
                    /** @description The public location, or the slug of the private one. */
                    id: string;
                    name: string;
                    /** @description Whether something runs checks there: an agent of the private location is connected. No agent serves public locations. */
                    available: boolean;
                }[];
                /** @description How many locations a check may name. */
                maxPerCheck: number;
            };
            entitlements: {
                key: string;
                name: string;
                description: string;
                /** @enum {string} */
                type: "flag" | "metered";
                enabled: boolean;
                /** @description The limit; omitted if there is none. */
                quantity?: number;
                /** @description The first plan that has it, or more of it. */
                requiredPlan?: string;
                requiredPlanDisplayName?: string;
            }[];
            addons: {
                communicate: {
                    tier: string;
                    tierDisplayName: string;
                };
                resolve: {
                    tier: string;
                    tierDisplayName: string;
                };
            };
        };
        Error: {
            /** @description The HTTP status code. */
            statusCode: number;
            /** @description The status phrase. */
            error: string;
            message: string;
            /** @description Data for programs, depending on the status. */
            attributes: {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000029",
         *       "errorHash": "7cdac20a1bb2f467966a82797b310408fa1bab8f614355491c22dc835e42fde2",
         *       "rawErrorMessage": "shop refused the connection",
         *       "cleanedErrorMessage": "shop refused the connection",
         *       "firstSeen": "2026-01-31T12:00:00.000Z",
         *       "lastSeen": "2026-01-31T12:00:00.000Z",
         *       "archivedUntilNextEvent": false,
         *       "rootCauseAnalyses": [
         *         {
         *           "id": "00000000-0000-4000-8000-000000000011",
         *           "provider": "rules",
         *           "model": "rules-1",
         *           "classification": "CONNECTION_FAILURE",
         *           "rootCause": "127.0.0.1:80 refused the connection: a host answered, and nothing accepts connections on that port. Likely the service has stopped or crashed, listens on another port or address, or a firewall rejects the agent.",
         *           "created_at": "2026-01-31"
         *         },
         *         {
         *           "id": "00000000-0000-4000-8000-000000000030",
         *           "provider": "rules",
         *           "model": "rules-1",
         *           "classification": "CONNECTION_FAILURE",
         *           "rootCause": "127.0.0.1:80 refused the connection: a host answered, and nothing accepts connections on that port. Likely the service has stopped or crashed, listens on another port or address, or a firewall rejects the agent.",
         *           "created_at": "2026-01-31"
         *         }
         *       ],
         *       "checkId": "homepage"
         *     }
         */
        ErrorGroup: {
            id: string;
            /** @description SHA-256 of cleanedErrorMessage, in hex digits. */
            errorHash: string;
            /** @description The message of the earliest failure; null if it has none. */
            rawErrorMessage: string | null;
            /** @description With placeholders for the parts that differ between failures. */
            cleanedErrorMessage: string;
            /**
             * Format: date-time
             * @description When the earliest failed run began.
             */
            firstSeen: string;
            /**
             * Format: date-time
             * @description When the latest failed run began.
             */
            lastSeen: string;
            /** @description Whether the group is archived, also for ever (archiveForEver). */
            archivedUntilNextEvent: boolean;
            /** @description Newest first. */
            rootCauseAnalyses: {
                [key: string]: unknown;
            }[];
            checkId: string;
        };
        ErrorGroupChanges: {
            /** @description true: archives the group until a run that starts later fails with the same error. false: restores the group, even if it was archived forever. */
            archivedUntilNextEvent?: boolean;
            /** @description true: archives the group forever, whatever archivedUntilNextEvent is. false: ends this. */
            archiveForEver?: boolean;
            readonly id?: unknown;
            readonly checkId?: unknown;
            readonly projectId?: unknown;
            readonly environments?: unknown;
            readonly errorHash?: unknown;
            readonly rawErrorMessage?: unknown;
            readonly cleanedErrorMessage?: unknown;
            readonly firstSeen?: unknown;
            readonly lastSeen?: unknown;
            readonly pwtMetadata?: unknown;
            readonly rootCauseAnalyses?: unknown;
        };
        /**
         * @example {
         *       "kind": "location.created",
         *       "resourceId": "00000000-0000-4000-8000-000000000035",
         *       "at": "2026-01-31T12:00:00.000Z",
         *       "data": {}
         *     }
         */
        Event: {
            /** @description What happened, for example `check.updated`. */
            kind: string;
            /** @description The id of the resource. */
            resourceId: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description Depends on the kind. */
            data: {
                [key: string]: unknown;
            };
        };
        ForbiddenError: {
            /** @constant */
            statusCode: 403;
            /** @constant */
            error: "Forbidden";
            message: string;
            /** @description Data for programs, depending on the status. */
            attributes: {
                [key: string]: unknown;
            };
        };
        GoneError: {
            /** @constant */
            statusCode: 410;
            /** @constant */
            error: "Gone";
            message: string;
            /** @description Data for programs, depending on the status. */
            attributes: {
                [key: string]: unknown;
            };
        };
        Health: {
            version: string;
            /** @enum {string} */
            state: "running" | "draining";
            /** @enum {string} */
            database: "answers" | "silent" | "refuses";
        };
        /**
         * @example {
         *       "checkType": "HEARTBEAT",
         *       "name": "Backup",
         *       "activated": true,
         *       "muted": false,
         *       "tags": [],
         *       "alertSettings": {
         *         "escalationType": "RUN_BASED",
         *         "runBasedEscalation": {
         *           "failedRunThreshold": 1
         *         },
         *         "reminders": {
         *           "amount": 0,
         *           "interval": 5
         *         },
         *         "parallelRunFailureThreshold": {
         *           "enabled": false,
         *           "percentage": 10
         *         }
         *       },
         *       "useGlobalAlertSettings": true,
         *       "groupId": null,
         *       "alertChannelSubscriptions": [],
         *       "description": null,
         *       "logicalId": null,
         *       "heartbeat": {
         *         "period": 1,
         *         "periodUnit": "DAYS",
         *         "grace": 1,
         *         "graceUnit": "HOURS",
         *         "pingToken": "TOKEN",
         *         "pingUrl": "https://vedette.example.com/heartbeat/TOKEN"
         *       },
         *       "id": "00000000-0000-4000-8000-000000000010",
         *       "created_at": "2026-01-31",
         *       "updated_at": null,
         *       "alertChannels": {
         *         "email": [],
         *         "webhook": [],
         *         "slack": [],
         *         "sms": []
         *       }
         *     }
         */
        HeartbeatCheck: {
            /** @enum {string} */
            checkType: "HEARTBEAT";
            /** @description The name of the check. */
            name: string;
            /**
             * @description Whether a missing ping makes the check fail.
             * @default true
             */
            activated: boolean;
            /**
             * @description Whether the check sends no alerts.
             * @default false
             */
            muted: boolean;
            /**
             * @description Labels for grouping and filtering.
             * @default []
             */
            tags: string[];
            /** @description When a failure sends alerts. */
            alertSettings: components["schemas"]["AlertSettings"];
            /**
             * @description Whether the alert settings of the account replace those of the check.
             * @default true
             */
            useGlobalAlertSettings: boolean;
            /**
             * @description The id of the group that the check belongs to.
             * @default null
             */
            groupId: number | null;
            /**
             * @description The alert channels that are notified of the check.
             * @default []
             */
            alertChannelSubscriptions: {
                alertChannelId: number;
                /** @default true */
                activated: boolean;
            }[];
            /** @description The incident that a failure opens; omitted if there is none. */
            triggerIncident?: components["schemas"]["TriggerIncident"];
            /**
             * @description A note for users.
             * @default null
             */
            description: string | null;
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            heartbeat: components["schemas"]["HeartbeatCheckHeartbeat"];
            id: string;
            /**
             * Format: date
             * @description The day of its creation, in UTC.
             */
            created_at: string;
            /** @description null until the first update. */
            updated_at: string | null;
            alertChannels: components["schemas"]["CheckAlertChannels"];
            /** @description What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests. */
            warnings?: components["schemas"]["Warning"][];
        };
        HeartbeatCheckChanges: {
            /** @description The name of the check. */
            name?: string;
            /** @description Whether a missing ping makes the check fail. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description A note for users. */
            description?: string | null;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            /** @description How often the job pings, and how late it may be. */
            heartbeat?: components["schemas"]["HeartbeatCheckHeartbeatChanges"];
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            readonly alertChannels?: unknown;
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "HEARTBEAT";
            /** @description The same as in the path. */
            id?: string;
        };
        HeartbeatCheckHeartbeat: {
            /** @description The time between expected pings, from 30 seconds to 365 days. */
            period: number;
            /**
             * @description The unit of `period`.
             * @enum {string}
             */
            periodUnit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS";
            /** @description How late a ping may be, from 0 to 365 days. */
            grace: number;
            /**
             * @description The unit of `grace`.
             * @enum {string}
             */
            graceUnit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS";
            /** @description Anyone who knows it can ping. ******** for keys without write access. */
            pingToken: string;
            /** @description Send a GET or POST request to it at the end of each run of the job. */
            pingUrl: string;
        };
        HeartbeatCheckHeartbeatChanges: {
            /** @description The time between expected pings, from 30 seconds to 365 days. */
            period: number;
            /**
             * @description The unit of `period`.
             * @enum {string}
             */
            periodUnit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS";
            /** @description How late a ping may be, from 0 to 365 days. */
            grace: number;
            /**
             * @description The unit of `grace`.
             * @enum {string}
             */
            graceUnit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS";
            readonly pingToken?: unknown;
            readonly pingUrl?: unknown;
        };
        /**
         * @example {
         *       "name": "Backup",
         *       "heartbeat": {
         *         "period": 1,
         *         "periodUnit": "DAYS",
         *         "grace": 1,
         *         "graceUnit": "HOURS"
         *       }
         *     }
         */
        HeartbeatCheckInput: {
            /** @description The name of the check. */
            name: string;
            /** @description Whether a missing ping makes the check fail. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description A note for users. */
            description?: string | null;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            /** @description How often pings are expected, and how late they may be. */
            heartbeat: {
                /** @description The time between expected pings, from 30 seconds to 365 days. */
                period: number;
                /**
                 * @description The unit of `period`.
                 * @enum {string}
                 */
                periodUnit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS";
                /** @description How late a ping may be, from 0 to 365 days. */
                grace: number;
                /**
                 * @description The unit of `grace`.
                 * @enum {string}
                 */
                graceUnit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS";
            };
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "HEARTBEAT";
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000037",
         *       "state": "RECEIVED",
         *       "timestamp": "2026-01-31T12:00:00.000Z",
         *       "source": "HTTP POST from 127.0.0.1",
         *       "userAgent": "",
         *       "pings": 1
         *     }
         */
        HeartbeatEvent: {
            id: string;
            /**
             * @description `EARLY`: a ping within half a period after the one before. `RECEIVED`: in time. `GRACE`: within the grace. `LATE`: after the grace. `FAILING`: no ping until the end of the grace.
             * @enum {string}
             */
            state: "EARLY" | "RECEIVED" | "GRACE" | "LATE" | "FAILING";
            /** Format: date-time */
            timestamp: string;
            /** @description The method and the address of the ping; for `FAILING`, that there was none. */
            source: string;
            /** @description The User-Agent of the ping; empty if it had none. */
            userAgent: string;
            /** @description The number of pings: early pings within an hour, and all pings within a second, are one event. */
            pings: number;
        };
        /**
         * @example {
         *       "event": {
         *         "id": "00000000-0000-4000-8000-000000000037",
         *         "state": "RECEIVED",
         *         "timestamp": "2026-01-31T12:00:00.000Z",
         *         "source": "HTTP POST from 127.0.0.1",
         *         "userAgent": ""
         *       },
         *       "stats": {
         *         "last24Hours": {
         *           "successRatio": {
         *             "previousPeriod": 100,
         *             "currentPeriod": 100
         *           },
         *           "totalEntitiesCurrentPeriod": 1
         *         },
         *         "last7Days": {
         *           "successRatio": {
         *             "previousPeriod": 100,
         *             "currentPeriod": 100
         *           },
         *           "totalEntitiesCurrentPeriod": 1
         *         }
         *       }
         *     }
         */
        HeartbeatEventWithStats: {
            event: {
                id: string;
                /**
                 * @description `EARLY`: a ping within half a period after the one before. `RECEIVED`: in time. `GRACE`: within the grace. `LATE`: after the grace. `FAILING`: no ping until the end of the grace.
                 * @enum {string}
                 */
                state: "EARLY" | "RECEIVED" | "GRACE" | "LATE" | "FAILING";
                /** Format: date-time */
                timestamp: string;
                /** @description The method and the address of the ping; for `FAILING`, that there was none. */
                source: string;
                /** @description The User-Agent of the ping; empty if it had none. */
                userAgent: string;
            };
            stats: {
                last24Hours: {
                    successRatio: {
                        /** @description Percent, in the period of equal length before. */
                        previousPeriod: number;
                        /** @description Percent of events that are not `FAILING`, up to now. */
                        currentPeriod: number;
                    };
                    /** @description The number of events in the current period. */
                    totalEntitiesCurrentPeriod: number;
                };
                last7Days: {
                    successRatio: {
                        /** @description Percent, in the period of equal length before. */
                        previousPeriod: number;
                        /** @description Percent of events that are not `FAILING`, up to now. */
                        currentPeriod: number;
                    };
                    /** @description The number of events in the current period. */
                    totalEntitiesCurrentPeriod: number;
                };
            };
        };
        HttpCheckResult: {
            request: components["schemas"]["HttpCheckResultRequest"];
            response: components["schemas"]["HttpResponse"] | null;
            assertions: components["schemas"]["AssertionResult"][];
            requestError: string | null;
            requestErrorCode: string | null;
            jobLog: components["schemas"]["JobLogEntry"][];
            jobAssets: string[];
            pcapDataUrl?: string;
            /** @default null */
            traceroute: components["schemas"]["Traceroute"] | null;
            timing?: {
                uncertaintyMs: number;
                clock: string;
            };
            timings?: components["schemas"]["HttpTimings"];
            timingPhases?: components["schemas"]["HttpTimingPhases"];
            tls?: components["schemas"]["TlsDetails"] | null;
            /** @default null */
            tcp: components["schemas"]["TcpDetails"] | null;
        };
        HttpCheckResultRequest: {
            method: string;
            url: string;
            data: string;
            headers: {
                [key: string]: string;
            };
            params: {
                [key: string]: string;
            };
        };
        HttpResponse: {
            status: number;
            statusText: string;
            /** @enum {string} */
            httpVersion: "2" | "1.0" | "1.1";
            headers: {
                [key: string]: string | string[];
            };
            ip: string;
            /** @enum {string} */
            ipFamily: "IPv4" | "IPv6";
            url: string;
            redirects: {
                status: number;
                url: string;
            }[];
            tls: components["schemas"]["TlsDetails"] | null;
            timings: components["schemas"]["HttpTimings"];
            timingPhases: components["schemas"]["HttpTimingPhases"];
            body: string | null;
            /** @enum {string} */
            bodyEncoding: "text" | "base64" | "omitted";
            bodyBytes: number;
            bodyTruncated: boolean;
            /** @enum {boolean} */
            bodyCut?: true;
        };
        HttpTimingPhases: {
            wait: number;
            dns: number;
            tcp: number;
            tls: number;
            firstByte: number;
            download: number;
            total: number;
        };
        HttpTimings: {
            socket: number | null;
            lookup: number | null;
            connect: number | null;
            secureConnect: number | null;
            response: number | null;
            end: number | null;
        };
        /**
         * @example {
         *       "checkType": "ICMP",
         *       "name": "Homepage",
         *       "activated": true,
         *       "muted": false,
         *       "doubleCheck": true,
         *       "shouldFail": false,
         *       "locations": null,
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "tags": [],
         *       "alertSettings": {
         *         "escalationType": "RUN_BASED",
         *         "runBasedEscalation": {
         *           "failedRunThreshold": 1
         *         },
         *         "reminders": {
         *           "amount": 0,
         *           "interval": 5
         *         },
         *         "parallelRunFailureThreshold": {
         *           "enabled": false,
         *           "percentage": 10
         *         }
         *       },
         *       "useGlobalAlertSettings": true,
         *       "groupId": null,
         *       "groupOrder": null,
         *       "runtimeId": null,
         *       "alertChannelSubscriptions": [],
         *       "runParallel": false,
         *       "variables": [],
         *       "description": null,
         *       "frequency": 10,
         *       "degradedPacketLossThreshold": 10,
         *       "maxPacketLossThreshold": 20,
         *       "request": {
         *         "hostname": "example.com",
         *         "pingCount": 10,
         *         "ipFamily": "IPv4",
         *         "assertions": []
         *       },
         *       "id": "00000000-0000-4000-8000-000000000009",
         *       "created_at": "2026-01-31",
         *       "updated_at": null,
         *       "alertChannels": {
         *         "email": [],
         *         "webhook": [],
         *         "slack": [],
         *         "sms": []
         *       },
         *       "warnings": [
         *         {
         *           "code": "LOCATION_WITHOUT_AGENTS",
         *           "message": "No agent of the private location office is connected, so nothing runs there. Start an agent with a key of this location.",
         *           "path": "privateLocations[0]"
         *         }
         *       ]
         *     }
         */
        IcmpCheck: {
            /** @enum {string} */
            checkType: "ICMP";
            /** @description The name of the check. */
            name: string;
            /**
             * @description Whether the check runs.
             * @default true
             */
            activated: boolean;
            /**
             * @description Whether the check sends no alerts.
             * @default false
             */
            muted: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             * @default true
             */
            doubleCheck: boolean;
            /**
             * @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes.
             * @default false
             */
            shouldFail: boolean;
            /**
             * @description Public locations that run the check. Not needed in a check file.
             * @default null
             */
            locations: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /**
             * @description Private locations that run the check. Not needed in a check file.
             * @default null
             */
            privateLocations: string[] | null;
            /**
             * @description Labels for grouping and filtering.
             * @default []
             */
            tags: string[];
            /** @description When a failure sends alerts. */
            alertSettings: components["schemas"]["AlertSettings"];
            /**
             * @description Whether the alert settings of the account replace those of the check.
             * @default true
             */
            useGlobalAlertSettings: boolean;
            /**
             * @description The id of the group that the check belongs to.
             * @default null
             */
            groupId: number | null;
            /**
             * @description The position of the check in its group.
             * @default null
             */
            groupOrder: number | null;
            /**
             * @description Stored but not used: the agent runs no user code.
             * @default null
             */
            runtimeId: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /**
             * @description The alert channels that are notified of the check.
             * @default []
             */
            alertChannelSubscriptions: {
                alertChannelId: number;
                /** @default true */
                activated: boolean;
            }[];
            /** @description How a failed run is retried; omitted if `doubleCheck` decides. */
            retryStrategy?: components["schemas"]["RetryStrategy"];
            /** @description The incident that a failure opens; omitted if there is none. */
            triggerIncident?: components["schemas"]["TriggerIncident"];
            /**
             * @description Whether all locations run every slot. If false, they run the slots in rotation.
             * @default false
             */
            runParallel: boolean;
            /** @description Values for the check's templates; they take precedence over all other variables. */
            variables: components["schemas"]["CheckVariable"][];
            /**
             * @description A note for users.
             * @default null
             */
            description: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @default 10
             * @enum {number}
             */
            frequency: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description The offset of the slots; omitted if the id decides. */
            frequencyOffset?: number;
            /**
             * @description Percent. A run is degraded if its packet loss is this high or higher.
             * @default 10
             */
            degradedPacketLossThreshold: number;
            /**
             * @description Percent. A run fails if its packet loss is this high or higher.
             * @default 20
             */
            maxPacketLossThreshold: number;
            request: components["schemas"]["IcmpRequest"];
            id: string;
            /**
             * Format: date
             * @description The day of its creation, in UTC.
             */
            created_at: string;
            /** @description null until the first update. */
            updated_at: string | null;
            alertChannels: components["schemas"]["CheckAlertChannels"];
            /** @description What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests. */
            warnings?: components["schemas"]["Warning"][];
        };
        IcmpCheckChanges: {
            /** @description The name of the check. */
            name?: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /** @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted. */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableChanges"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @enum {number}
             */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Percent. A run is degraded if its packet loss is this high or higher. */
            degradedPacketLossThreshold?: number;
            /** @description Percent. A run fails if its packet loss is this high or higher. */
            maxPacketLossThreshold?: number;
            request?: components["schemas"]["IcmpRequestInput"];
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            readonly alertChannels?: unknown;
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "ICMP";
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "name": "Homepage",
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "request": {
         *         "hostname": "example.com"
         *       }
         *     }
         */
        IcmpCheckInput: {
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Percent. A run is degraded if its packet loss is this high or higher. */
            degradedPacketLossThreshold?: number;
            /** @description Percent. A run fails if its packet loss is this high or higher. */
            maxPacketLossThreshold?: number;
            request: components["schemas"]["IcmpRequestInput"];
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "ICMP";
        };
        IcmpCheckResult: {
            request: components["schemas"]["IcmpCheckResultRequest"];
            response: components["schemas"]["IcmpCheckResultResponse"] | null;
            assertions: components["schemas"]["AssertionResult"][];
            requestError: string | null;
            requestErrorCode: string | null;
            jobLog: components["schemas"]["JobLogEntry"][];
            jobAssets: string[];
            pcapDataUrl: string | null;
            /** @default null */
            traceroute: components["schemas"]["Traceroute"] | null;
            timing?: {
                uncertaintyMs: number;
                clock: string;
            };
            timings: {
                lookup: number;
                end: number;
            };
            timingPhases: {
                dns: number;
                total: number;
            };
        };
        IcmpCheckResultRequest: {
            hostname: string;
            pingCount: number;
            /** @enum {string} */
            ipFamily: "IPv4" | "IPv6";
        };
        IcmpCheckResultResponse: {
            hostname: string;
            resolvedIp: string;
            /** @enum {string} */
            ipFamily: "IPv4" | "IPv6";
            pingCount: number;
            packetsSent: number;
            packetsReceived: number;
            packetLoss: number;
            dnsResolutionTime: number;
            latency: components["schemas"]["IcmpCheckResultResponseLatency"];
            pingResults: components["schemas"]["IcmpCheckResultResponsePingResult"][];
        };
        IcmpCheckResultResponseLatency: {
            avg: number | null;
            min: number | null;
            max: number | null;
            stdDev: number | null;
        };
        IcmpCheckResultResponsePingResult: {
            sequence: number;
            success: boolean;
            rtt: number | null;
            ttl: number | null;
        };
        IcmpRequest: {
            /** @description A host name or IP address, without scheme or port. */
            hostname: string;
            /**
             * @description The number of echo requests, sent 500 ms apart.
             * @default 10
             */
            pingCount: number;
            /**
             * @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6.
             * @default IPv4
             * @enum {string}
             */
            ipFamily: "IPv4" | "IPv6";
            /**
             * @description The conditions that the response must meet; see Assertions.
             * @default []
             */
            assertions: components["schemas"]["IcmpRequestAssertion"][];
        };
        IcmpRequestAssertion: {
            /** @enum {string} */
            source: "LATENCY" | "JSON_RESPONSE";
            /** @default  */
            property: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            /** @default  */
            target: string;
            /** @default null */
            regex: string | null;
        };
        IcmpRequestAssertionInput: {
            /** @enum {string} */
            source: "LATENCY" | "JSON_RESPONSE";
            property?: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            target?: string;
            regex?: string | null;
        };
        IcmpRequestInput: {
            /** @description A host name or IP address, without scheme or port. */
            hostname: string;
            /** @description The number of echo requests, sent 500 ms apart. */
            pingCount?: number;
            /** @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6. */
            ipFamily?: "IPv4" | "IPv6";
            /** @description The conditions that the response must meet; see Assertions. */
            assertions?: components["schemas"]["IcmpRequestAssertionInput"][];
        };
        IdempotencyKeyReusedError: {
            /** @constant */
            statusCode: 422;
            /** @constant */
            error: "Unprocessable Entity";
            message: string;
            /** @description Data for programs, depending on the status. */
            attributes: {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000019",
         *       "name": "The API is slow",
         *       "impact": "MINOR",
         *       "dashboardId": null,
         *       "startedAt": "2026-01-31 12:00:00",
         *       "stoppedAt": null,
         *       "incidentUpdates": [],
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        Incident: {
            id: string;
            /** @description The name of the incident. */
            name: string;
            /**
             * @description How severe it is.
             * @enum {string}
             */
            impact: "MAINTENANCE" | "MAJOR" | "MINOR";
            dashboardId: number | null;
            /** @description YYYY-MM-DD HH:MM:SS, in UTC. */
            startedAt: string;
            stoppedAt: string | null;
            /** @description Oldest first. */
            incidentUpdates: components["schemas"]["IncidentUpdate"][];
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        IncidentChanges: {
            /** @description The name of the incident. */
            name?: string;
            /**
             * @description How severe it is.
             * @enum {string}
             */
            impact?: "MAINTENANCE" | "MAJOR" | "MINOR";
            /** @description The dashboard that shows it; null for none. */
            dashboardId?: number | null;
            /** @description When the incident becomes active. If omitted, when it is created. */
            startedAt?: string;
            /** @description When the incident becomes inactive; null while that is unknown. */
            stoppedAt?: string | null;
            readonly incidentUpdates?: unknown;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "name": "The API is slow",
         *       "impact": "MINOR"
         *     }
         */
        IncidentInput: {
            /** @description The name of the incident. */
            name: string;
            /**
             * @description How severe it is.
             * @enum {string}
             */
            impact: "MAINTENANCE" | "MAJOR" | "MINOR";
            /** @description The dashboard that shows it; null for none. */
            dashboardId?: number | null;
            /** @description When the incident becomes active. If omitted, when it is created. */
            startedAt?: string;
            /** @description When the incident becomes inactive; null while that is unknown. */
            stoppedAt?: string | null;
            /** @description The first updates, oldest first. */
            incidentUpdates?: components["schemas"]["IncidentUpdateInput"][];
        };
        /**
         * @example {
         *       "status": "INVESTIGATING",
         *       "description": "We look into it.",
         *       "id": "00000000-0000-4000-8000-000000000020",
         *       "incidentId": "00000000-0000-4000-8000-000000000021",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        IncidentUpdate: {
            /**
             * @description The status of the incident.
             * @enum {string}
             */
            status: "INVESTIGATING" | "IDENTIFIED" | "MONITORING" | "RESOLVED";
            /** @description The text that readers see. */
            description: string;
            id: string;
            incidentId: string;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        IncidentUpdateChanges: {
            /**
             * @description The status of the incident.
             * @enum {string}
             */
            status?: "INVESTIGATING" | "IDENTIFIED" | "MONITORING" | "RESOLVED";
            /** @description The text that readers see. */
            description?: string;
            readonly incidentId?: unknown;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "status": "INVESTIGATING",
         *       "description": "We look into it."
         *     }
         */
        IncidentUpdateInput: {
            /**
             * @description The status of the incident.
             * @enum {string}
             */
            status: "INVESTIGATING" | "IDENTIFIED" | "MONITORING" | "RESOLVED";
            /** @description The text that readers see. */
            description: string;
        };
        Invitation: {
            id: string;
            /** Format: email */
            email: string;
            /**
             * @description The role of the user in the account.
             * @enum {string}
             */
            role: "read" | "run" | "write" | "admin";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expiresAt: string;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as expiresAt.
             */
            expires_at: string;
        };
        /**
         * @example {
         *       "email": "ada@example.com",
         *       "role": "read"
         *     }
         */
        InvitationInput: {
            /** Format: email */
            email: string;
            /**
             * @description The role of the user in the account.
             * @enum {string}
             */
            role: "read" | "run" | "write" | "admin";
        };
        JobLogEntry: {
            time: number;
            /** @enum {string} */
            level: "info" | "warn" | "error";
            msg: string;
        };
        KeyValue: {
            key: string;
            /** @default  */
            value: string;
            /**
             * @description Stored and returned as a note for users. The value remains visible to everyone who can read the check.
             * @default false
             */
            locked: boolean;
        };
        KeyValueInput: {
            key: string;
            value?: string;
            /** @description Stored and returned as a note for users. The value remains visible to everyone who can read the check. */
            locked?: boolean;
        };
        /**
         * @example {
         *       "id": "shop-agent",
         *       "version": "1.0.0",
         *       "live": false,
         *       "checks": 0,
         *       "running": 0,
         *       "queued": 0,
         *       "concurrency": 10,
         *       "countedConcurrency": 10,
         *       "capabilities": {
         *         "types": [
         *           "URL",
         *           "API"
         *         ],
         *         "ipv6": true,
         *         "icmp": true,
         *         "capture": true
         *       },
         *       "refused": [],
         *       "clockAheadMs": null,
         *       "health": null,
         *       "leaseUntil": null,
         *       "firstSeen": "2026-01-31T12:00:00.000Z",
         *       "lastSeen": "2026-01-31T12:00:00.000Z",
         *       "endedAt": null,
         *       "lease_until": null,
         *       "first_seen_at": "2026-01-31T12:00:00.000Z",
         *       "last_seen_at": "2026-01-31T12:00:00.000Z",
         *       "ended_at": null
         *     }
         */
        LocationAgent: {
            /** @description The agent saves it in its DATA_DIR. */
            id: string;
            version: string;
            /** @description It polled recently, and runs its checks. */
            live: boolean;
            /** @description How many checks of the location it runs. */
            checks: number;
            /** @description Runs in progress when it last polled. */
            running: number;
            /** @description Runs that waited for a permit when it last polled. */
            queued: number;
            /** @description How many runs it does at once, as it reports. */
            concurrency: number;
            /** @description The concurrency that counts for its share of the checks, at most MAX_AGENT_CONCURRENCY of the service. */
            countedConcurrency: number;
            capabilities: {
                types: string[];
                /** @description It has a route to IPv6. */
                ipv6: boolean;
                /** @description It may open an ICMP socket. */
                icmp: boolean;
                /** @description It may capture packets. */
                capture: boolean;
            };
            /** @description Checks and runs that it got and cannot read, at most 100. */
            refused: {
                checkId: string;
                problem: string;
            }[];
            /** @description How far its clock is ahead of the service's, in milliseconds; negative if it is behind, null if it does not report this. */
            clockAheadMs: number | null;
            /** @description What it reported with its last poll; null if it does not report this. */
            health: {
                /** @description How long after its slot the latest run of the last five minutes began, in milliseconds; null if none began. */
                maxLatenessMs: number | null;
                /** @description Slots that it recorded as missed since its start. */
                missedSlots: number;
                /** @description Results, missed slots and artifacts that wait for the service. */
                spoolRecords: number;
                /** @description Their size in bytes. */
                spoolBytes: number;
                /** @description How long the oldest of them has waited, in milliseconds; null if none waits. */
                spoolOldestMs: number | null;
            } | null;
            /** @description When its checks move to others unless it polls again; null once they have moved. */
            leaseUntil: string | null;
            /**
             * Format: date-time
             * @description The time of its first poll.
             */
            firstSeen: string;
            /**
             * Format: date-time
             * @description The time of its last poll that was not refused.
             */
            lastSeen: string;
            /** @description When it was ended by a DELETE; null for an agent that may poll. */
            endedAt: string | null;
            /**
             * @deprecated
             * @description The same as leaseUntil.
             */
            lease_until: string | null;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as firstSeen.
             */
            first_seen_at: string;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as lastSeen.
             */
            last_seen_at: string;
            /**
             * @deprecated
             * @description The same as endedAt.
             */
            ended_at: string | null;
        };
        LocationAgentError: {
            id: number;
            agentId: string;
            /** @description The version of the agent. */
            version: string;
            node: string;
            platform: string;
            arch: string;
            class: string;
            code: string | null;
            /** @description Frames, the innermost one first. */
            stack: unknown[];
            /** @description How often it happened from firstSeen to lastSeen. */
            count: number;
            /** Format: date-time */
            firstSeen: string;
            /** Format: date-time */
            lastSeen: string;
            /** Format: date-time */
            receivedAt: string;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as firstSeen.
             */
            firstAt: string;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as lastSeen.
             */
            lastAt: string;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as receivedAt.
             */
            received_at: string;
        };
        LocationKey: {
            id: string;
            /** @description The first characters of the key. */
            prefix: string;
            /** @description The last four characters of the key; null for a key from before the release that stores them. */
            lastFour: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description To the minute; null if it was never used. */
            lastUsedAt: string | null;
            /** @description null while it is active. */
            revokedAt: string | null;
            /**
             * @deprecated
             * @description The same as lastUsedAt.
             */
            last_used_at: string | null;
            /**
             * @deprecated
             * @description The same as revokedAt.
             */
            revoked_at: string | null;
        };
        /**
         * @example {
         *       "name": "Upgrade",
         *       "tags": [],
         *       "startsAt": "2100-01-01T00:00:00.000Z",
         *       "endsAt": "2100-01-01T01:00:00.000Z",
         *       "repeatUnit": "DAY",
         *       "repeatInterval": null,
         *       "repeatEndsAt": null,
         *       "pauseAllChecks": false,
         *       "silenceAlertsTags": [],
         *       "silenceAllAlerts": false,
         *       "logicalId": null,
         *       "id": 1,
         *       "created_at": "2026-01-31",
         *       "updated_at": null
         *     }
         */
        MaintenanceWindow: {
            /** @description The name of the window. */
            name: string;
            /**
             * @description Checks with one of these tags, or whose group has one, skip their slots during the window.
             * @default []
             */
            tags: string[];
            /**
             * Format: date-time
             * @description When the first occurrence starts.
             */
            startsAt: string;
            /**
             * Format: date-time
             * @description When the first occurrence ends.
             */
            endsAt: string;
            /**
             * @description The unit of repeatInterval. In a month without the day of startsAt, the window starts on the last day.
             * @enum {string}
             */
            repeatUnit: "DAY" | "WEEK" | "MONTH";
            /**
             * @description The number of units between the starts of two occurrences; null if the window does not repeat.
             * @default null
             */
            repeatInterval: number | null;
            /** @description No occurrence starts at or after this time. */
            repeatEndsAt: string | null;
            /**
             * @description Whether all checks skip their slots, whatever their tags.
             * @default false
             */
            pauseAllChecks: boolean;
            /**
             * @description Checks with one of these tags, or whose group has one, send no alerts during the window.
             * @default []
             */
            silenceAlertsTags: string[];
            /**
             * @description Whether no check sends alerts, whatever their tags.
             * @default false
             */
            silenceAllAlerts: boolean;
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            id: number;
            /**
             * Format: date
             * @description The day of its creation, in UTC.
             */
            created_at: string;
            /** @description The day of its last update, in UTC; null until the first update. */
            updated_at: string | null;
        };
        MaintenanceWindowChanges: {
            /** @description The name of the window. */
            name?: string;
            /** @description Checks with one of these tags, or whose group has one, skip their slots during the window. */
            tags?: string[];
            /** @description The start of the first occurrence. */
            startsAt?: string;
            /** @description The end of the first occurrence, after startsAt. */
            endsAt?: string;
            /**
             * @description The unit of repeatInterval. In a month without the day of startsAt, the window starts on the last day.
             * @enum {string}
             */
            repeatUnit?: "DAY" | "WEEK" | "MONTH";
            /** @description The number of units between the starts of two occurrences; null if the window does not repeat. */
            repeatInterval?: number | null;
            /** @description No occurrence starts at this time or later. It is after startsAt; null if the window repeats forever. */
            repeatEndsAt?: string | null;
            /** @description Whether all checks skip their slots, whatever their tags. */
            pauseAllChecks?: boolean;
            /** @description Checks with one of these tags, or whose group has one, send no alerts during the window. */
            silenceAlertsTags?: string[];
            /** @description Whether no check sends alerts, whatever their tags. */
            silenceAllAlerts?: boolean;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: number;
        };
        /**
         * @example {
         *       "name": "Upgrade",
         *       "startsAt": "2100-01-01T00:00:00Z",
         *       "endsAt": "2100-01-01T01:00:00Z",
         *       "repeatUnit": "DAY"
         *     }
         */
        MaintenanceWindowInput: {
            /** @description The name of the window. */
            name: string;
            /** @description Checks with one of these tags, or whose group has one, skip their slots during the window. */
            tags?: string[];
            /** @description The start of the first occurrence. */
            startsAt: string;
            /** @description The end of the first occurrence, after startsAt. */
            endsAt: string;
            /**
             * @description The unit of repeatInterval. In a month without the day of startsAt, the window starts on the last day.
             * @enum {string}
             */
            repeatUnit: "DAY" | "WEEK" | "MONTH";
            /** @description The number of units between the starts of two occurrences; null if the window does not repeat. */
            repeatInterval?: number | null;
            /** @description No occurrence starts at this time or later. It is after startsAt; null if the window repeats forever. */
            repeatEndsAt?: string | null;
            /** @description Whether all checks skip their slots, whatever their tags. */
            pauseAllChecks?: boolean;
            /** @description Checks with one of these tags, or whose group has one, send no alerts during the window. */
            silenceAlertsTags?: string[];
            /** @description Whether no check sends alerts, whatever their tags. */
            silenceAllAlerts?: boolean;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
        };
        /**
         * @example {
         *       "checkId": "homepage",
         *       "location": "shop-place",
         *       "slot": "2026-01-31T12:00:00.000Z",
         *       "lastSlot": "2026-01-31T12:00:00.000Z",
         *       "count": 1,
         *       "reason": "shop"
         *     }
         */
        MissedSlot: {
            checkId: string;
            location: string;
            /**
             * Format: date-time
             * @description The first missed slot.
             */
            slot: string;
            /**
             * Format: date-time
             * @description The last missed slot; equal to `slot` if there is only one.
             */
            lastSlot: string;
            /** @description The number of slots, evenly spaced. */
            count: number;
            /** @description Why; the documentation has a table of the reasons. */
            reason: string;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000022",
         *       "name": "Dashboard",
         *       "role": "read",
         *       "prefix": "vk_000000",
         *       "lastFour": "0000",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "lastUsedAt": null,
         *       "revokedAt": null,
         *       "last_used_at": null,
         *       "revoked_at": null,
         *       "key": "vk_00000000000000000000000000000000"
         *     }
         */
        NewApiKey: {
            id: string;
            /** @description A name for people. */
            name: string;
            /**
             * @description What it may do; each role includes those before it.
             * @enum {string}
             */
            role: "read" | "run" | "write" | "admin";
            /** @description The first characters of the key. */
            prefix: string;
            /** @description The last four characters of the key; null for a key from before the release that stores them. */
            lastFour: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description To the minute; null if it was never used. */
            lastUsedAt: string | null;
            /** @description null while it is active. */
            revokedAt: string | null;
            /**
             * @deprecated
             * @description The same as lastUsedAt.
             */
            last_used_at: string | null;
            /**
             * @deprecated
             * @description The same as revokedAt.
             */
            revoked_at: string | null;
            /** @description The whole key; it is shown only once. */
            key: string;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000023",
         *       "email": "ada@example.com",
         *       "role": "read",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "expiresAt": "2026-01-31T12:00:00.000Z",
         *       "expires_at": "2026-01-31T12:00:00.000Z",
         *       "url": "https://vedette.example.com/invitations/TOKEN"
         *     }
         */
        NewInvitation: {
            id: string;
            /** Format: email */
            email: string;
            /**
             * @description The role of the user in the account.
             * @enum {string}
             */
            role: "read" | "run" | "write" | "admin";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expiresAt: string;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as expiresAt.
             */
            expires_at: string;
            /** @description The link to send to the user. It works once, and is shown only once. */
            url: string;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000024",
         *       "prefix": "pl_000000",
         *       "lastFour": "0000",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "lastUsedAt": null,
         *       "revokedAt": null,
         *       "last_used_at": null,
         *       "revoked_at": null,
         *       "key": "pl_00000000000000000000000000000000"
         *     }
         */
        NewLocationKey: {
            id: string;
            /** @description The first characters of the key. */
            prefix: string;
            /** @description The last four characters of the key; null for a key from before the release that stores them. */
            lastFour: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description To the minute; null if it was never used. */
            lastUsedAt: string | null;
            /** @description null while it is active. */
            revokedAt: string | null;
            /**
             * @deprecated
             * @description The same as lastUsedAt.
             */
            last_used_at: string | null;
            /**
             * @deprecated
             * @description The same as revokedAt.
             */
            revoked_at: string | null;
            /** @description The whole key; it is shown only once. */
            key: string;
        };
        NotFoundError: {
            /** @constant */
            statusCode: 404;
            /** @constant */
            error: "Not Found";
            message: string;
            attributes: {
                /** @description What does not exist. */
                resource?: string;
            } & {
                [key: string]: unknown;
            };
        };
        PaymentRequiredError: {
            /** @constant */
            statusCode: 402;
            /** @constant */
            error: "Payment Required";
            message: string;
            /** @description Data for programs, depending on the status. */
            attributes: {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000011",
         *       "status": "PENDING"
         *     }
         */
        PendingRootCauseAnalysis: {
            id: string;
            /**
             * @description It is being made: ask again.
             * @enum {string}
             */
            status: "PENDING";
        };
        PingHeartbeatResponse: {
            /**
             * @description What the ping was taken for.
             * @enum {string}
             */
            state: "EARLY" | "RECEIVED" | "GRACE" | "LATE" | "FAILING";
        };
        PreconditionFailedError: {
            /** @constant */
            statusCode: 412;
            /** @constant */
            error: "Precondition Failed";
            message: string;
            attributes: {
                /** @description The current ETag; null if there is none. */
                etag?: string | null;
            } & {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "slug": "office",
         *       "name": "Office",
         *       "icon": null,
         *       "proxyUrl": null,
         *       "id": "00000000-0000-4000-8000-000000000001",
         *       "silentSince": null,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        PrivateLocation: {
            /** @description The name of the location in checks and results. It never changes. */
            slug: string;
            /** @description The display name of the location. */
            name: string;
            /**
             * @description The name of an icon.
             * @default null
             */
            icon: string | null;
            /**
             * @description The proxy that checks of this location use. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value.
             * @default null
             */
            proxyUrl: string | null;
            id: string;
            /** @description When an agent last polled, if checks are assigned to the location and none of them runs because no agent polls. null while agents poll, and for a location that never had an agent. */
            silentSince: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        PrivateLocationChanges: {
            /** @description The name of the location in checks and results. It never changes. */
            slug?: string;
            /** @description The display name of the location. */
            name?: string;
            /** @description The name of an icon. */
            icon?: string | null;
            /** @description The proxy that checks of this location use. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value. */
            proxyUrl?: string | null;
            readonly silentSince?: unknown;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "slug": "office",
         *       "name": "Office"
         *     }
         */
        PrivateLocationInput: {
            /** @description The name of the location in checks and results. It never changes. */
            slug: string;
            /** @description The display name of the location. */
            name: string;
            /** @description The name of an icon. */
            icon?: string | null;
            /** @description The proxy that checks of this location use. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value. */
            proxyUrl?: string | null;
        };
        PrivateLocationStatus: {
            /** @description The id of the location. */
            id: string;
            slug: string;
            name: string;
            /**
             * @description online: an agent polls; silent: none polls any more, so its checks do not run; idle: none polls any more, and it has no checks; new: it never had an agent.
             * @enum {string}
             */
            state: "online" | "silent" | "idle" | "new";
            /** @description The last poll of an agent of a silent location; null in other states. */
            silentSince: string | null;
            /** @description The last poll of any of its agents; null if it never had one. */
            lastSeen: string | null;
            agents: {
                /** @description Agents that poll. */
                live: number;
                /** @description Also ended agents and, for a month, those that are gone. */
                known: number;
            };
            /** @description Of the agents that poll. */
            versions: string[];
            /** @description Checks that run in the location. */
            checks: number;
            /** @description Those that no agent runs at the moment. */
            unassignedChecks: number;
            /** @description Slots of the last 24 hours that were not run in the location. */
            missedSlots: number;
            /** @description How late the latest run of the last five minutes began, in milliseconds, as its agents report; null if none does. */
            maxLatenessMs: number | null;
            /** @description How far the clock of the agent that is off by most is ahead of the service's, in milliseconds; negative if it is behind. */
            clockAheadMs: number | null;
            /** @description Records that wait at its agents for the service; null if none reports it. */
            spoolRecords: number | null;
            /** @description How long the oldest of them has waited, in milliseconds; null if none waits. */
            spoolOldestMs: number | null;
        };
        Readiness: {
            /** @description The HTTP status code. */
            statusCode: number;
            /** @description The status phrase. */
            error: string;
            message: string;
            /** @description Data for programs, depending on the status. */
            attributes: {
                [key: string]: unknown;
            };
        };
        ResultExplanation: {
            resultId: string;
            /** @enum {string} */
            result: "passed" | "degraded" | "failed" | "error" | "cancelled";
            /** @description Why it did not pass, the first one first. */
            reasons: string[];
            errorCode: string | null;
            /** @description What the error code means. */
            meaning: string | null;
            /** @description Where it failed or was slow, such as `dns`. */
            phase: string | null;
            /** @description What to try first. */
            advice: string | null;
            /** @description All stored attempts of its run in order, itself included. */
            attempts: components["schemas"]["AttemptSummary"][];
            /** @description The last run before it that passed and was not degraded. */
            lastPassing: {
                resultId: string;
                /** @description From 1. */
                number: number;
                location: string;
                /** @enum {string} */
                result: "passed" | "degraded" | "failed" | "error" | "cancelled";
                /** Format: date-time */
                startedAt: string;
                /** @description Milliseconds. */
                responseTime: number;
                /** @description One of the error codes; null if there is none. */
                errorCode: string | null;
                /** @description The response of the target in a few words; null if there was none. */
                response: string | null;
                /** @description The first reason for which it did not pass. */
                reason: string | null;
                /**
                 * Format: date-time
                 * @description When it was due.
                 */
                slot: string;
            } | null;
        };
        RetryStrategy: {
            /**
             * @description The delay before retry n. FIXED: base; LINEAR: base · n; EXPONENTIAL: baseⁿ; SINGLE_RETRY: base, for one retry; NO_RETRIES: no retries.
             * @enum {string}
             */
            type: "FIXED" | "LINEAR" | "EXPONENTIAL" | "SINGLE_RETRY" | "NO_RETRIES";
            /**
             * @description The base of the delay. The delay counts from the end of the previous attempt.
             * @default 60
             */
            baseBackoffSeconds: number;
            /**
             * @description The maximum number of retries; SINGLE_RETRY makes one.
             * @default 2
             */
            maxRetries: number;
            /**
             * @description A retry that would start later than this after the start of the first attempt is not made.
             * @default 600
             */
            maxDurationSeconds: number;
            /**
             * @description Whether retries run in the location of the failed attempt.
             * @default true
             */
            sameRegion: boolean;
            /**
             * @description NETWORK_ERROR: retries only if no status code was received (URL and API).
             * @default null
             */
            onlyOn: "NETWORK_ERROR"[] | null;
        };
        RetryStrategyInput: {
            /**
             * @description The delay before retry n. FIXED: base; LINEAR: base · n; EXPONENTIAL: baseⁿ; SINGLE_RETRY: base, for one retry; NO_RETRIES: no retries.
             * @enum {string}
             */
            type: "FIXED" | "LINEAR" | "EXPONENTIAL" | "SINGLE_RETRY" | "NO_RETRIES";
            /** @description The base of the delay. The delay counts from the end of the previous attempt. */
            baseBackoffSeconds?: number;
            /** @description The maximum number of retries; SINGLE_RETRY makes one. */
            maxRetries?: number;
            /** @description A retry that would start later than this after the start of the first attempt is not made. */
            maxDurationSeconds?: number;
            /** @description Whether retries run in the location of the failed attempt. */
            sameRegion?: boolean;
            /** @description NETWORK_ERROR: retries only if no status code was received (URL and API). */
            onlyOn?: "NETWORK_ERROR"[] | null;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000030",
         *       "checkId": "homepage",
         *       "errorGroupId": "00000000-0000-4000-8000-000000000029",
         *       "checkType": "URL",
         *       "provider": "rules",
         *       "model": "rules-1",
         *       "durationMs": 100,
         *       "status": "COMPLETED",
         *       "created_at": "2026-01-31",
         *       "analysis": {
         *         "classification": "CONNECTION_FAILURE",
         *         "userImpact": "Users cannot use http://127.0.0.1: they get no answer.",
         *         "rootCause": "127.0.0.1:80 refused the connection: a host answered, and nothing accepts connections on that port. Likely the service has stopped or crashed, listens on another port or address, or a firewall rejects the agent.",
         *         "codeFix": "On the host, see that the service runs and listens on port 80 (ss -ltn), look into its log for why it stopped, and start it. If it runs, see which rule of the firewall rejects the agent.",
         *         "evidence": [
         *           {
         *             "artifacts": [
         *               {
         *                 "name": "/v1/check-results/homepage/00000000-0000-4000-8000-000000000032",
         *                 "type": "check-result"
         *               }
         *             ],
         *             "description": "The run in shop-place that began at 2026-01-31T12:00:00.000Z failed with CONNECT_REFUSED. The agent says: shop refused the connection."
         *           },
         *           {
         *             "artifacts": [
         *               {
         *                 "name": "/v1/check-results/homepage/00000000-0000-4000-8000-000000000032",
         *                 "type": "check-result"
         *               }
         *             ],
         *             "description": "The server showed the certificate CN=shop, issued by CN=Test CA, valid from 2025-10-01T00:00:00.000Z to 2026-03-01T00:00:00.000Z: it expired on 2026-03-01 00:00:00 UTC, 30 days before this run."
         *           }
         *         ],
         *         "referenceLinks": [
         *           {
         *             "url": "https://www.rfc-editor.org/rfc/rfc9293#section-3.5.2",
         *             "title": "RFC 9293, 3.5.2: When a host answers with a reset"
         *           }
         *         ]
         *       }
         *     }
         */
        RootCauseAnalysis: {
            id: string;
            checkId: string | null;
            /** @description The error group of the failure; null for none. */
            errorGroupId: string | null;
            checkType: string;
            /** @description Who made it: `rules`, or `openai` for a model behind an OpenAI-compatible API. */
            provider: string;
            model: string;
            /** @description How long it took to make it. */
            durationMs: number;
            /** @enum {string} */
            status: "COMPLETED";
            /** Format: date */
            created_at: string;
            analysis: components["schemas"]["RootCauseAnalysisAnalysis"];
        };
        RootCauseAnalysisAnalysis: {
            /** @description The kind of failure, in one word. */
            classification: string;
            /** @description What users of the target notice. */
            userImpact: string;
            /** @description Why the check failed, as far as the evidence shows. */
            rootCause: string;
            /** @description How to fix the cause. */
            codeFix: string;
            /** @description The evidence for the conclusions. */
            evidence: {
                /** @description The stored artifacts that show it. */
                artifacts: {
                    /** @description The path or the name of the artifact. */
                    name: string;
                    /** @description The type of the artifact. */
                    type: string;
                }[];
                description: string;
            }[];
            /** @description Links to further information. */
            referenceLinks: {
                url: string;
                title: string;
            }[];
        };
        /**
         * @example {
         *       "checkId": "homepage"
         *     }
         */
        RootCauseAnalysisInput: {
            /** @description The check whose failure is analysed. */
            checkId: string;
            /** @description A result of the check that did not pass. If omitted: its latest failure. */
            resultId?: string;
            /**
             * @description Who makes the analysis. If omitted: the model if the service has one configured, otherwise the rules.
             * @enum {string}
             */
            provider?: "rules" | "openai";
        } | {
            /** @description The error group whose latest failure is analysed. */
            errorGroupId: string;
            /**
             * @description Who makes the analysis. If omitted: the model if the service has one configured, otherwise the rules.
             * @enum {string}
             */
            provider?: "rules" | "openai";
        };
        RunCheckInput: {
            /** @description The slug of one of the private locations of the check. Default: the first that has a connected agent. */
            location?: string | null;
        };
        RunSummary: {
            resultId: string;
            /** @description From 1. */
            number: number;
            location: string;
            /** @enum {string} */
            result: "passed" | "degraded" | "failed" | "error" | "cancelled";
            /** Format: date-time */
            startedAt: string;
            /** @description Milliseconds. */
            responseTime: number;
            /** @description One of the error codes; null if there is none. */
            errorCode: string | null;
            /** @description The response of the target in a few words; null if there was none. */
            response: string | null;
            /** @description The first reason for which it did not pass. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When it was due.
             */
            slot: string;
            sequenceId: string;
            /** @description The attempts before the last one, in order. */
            retried: components["schemas"]["AttemptSummary"][];
        };
        ServiceUnavailableError: {
            /** @constant */
            statusCode: 503;
            /** @constant */
            error: "Service Unavailable";
            message: string;
            attributes: {
                /** @description When to try again. */
                retryAfterSeconds?: number;
            } & {
                [key: string]: unknown;
            };
        };
        Session: {
            id: string;
            /** @description Whether it is the session of this request. */
            current: boolean;
            /** @description The address from which the user signed in. */
            address: string;
            userAgent: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description To the minute.
             */
            lastUsedAt: string;
            /**
             * Format: date-time
             * @description It ends earlier if it is not used.
             */
            endsAt: string;
            /**
             * @deprecated
             * @description The same as userAgent.
             */
            user_agent: string;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as lastUsedAt.
             */
            last_used_at: string;
            /**
             * Format: date-time
             * @deprecated
             * @description The same as endsAt.
             */
            ends_at: string;
        };
        SignInInput: {
            /** Format: email */
            email: string;
            password: string;
        };
        SlackAlertChannel: {
            /** @enum {string} */
            type: "SLACK";
            config: {
                /** @description The URL of an incoming webhook. */
                url: string;
            };
            /**
             * @description Whether the channel is notified of failures.
             * @default true
             */
            sendFailure: boolean;
            /**
             * @description Whether the channel is notified when a failing or degraded check passes again.
             * @default true
             */
            sendRecovery: boolean;
            /**
             * @description Whether the channel is notified of degraded checks.
             * @default false
             */
            sendDegraded: boolean;
            /**
             * @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures.
             * @default null
             */
            sendLocationSilent: boolean | null;
            /**
             * @description Whether the channel is notified of certificates that expire soon.
             * @default false
             */
            sslExpiry: boolean;
            /**
             * @description How many days before a certificate expires the channel is notified, once.
             * @default 30
             */
            sslExpiryThreshold: number;
            /**
             * @description The checks that the channel is notified of.
             * @default []
             */
            subscriptions: {
                /** @description The id of the check. */
                checkId: string;
                /**
                 * @description Whether the channel is notified of the check.
                 * @default true
                 */
                activated: boolean;
            }[];
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            id: number;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        SlackAlertChannelInput: {
            /** @enum {string} */
            type: "SLACK";
            config: {
                /** @description The URL of an incoming webhook. */
                url: string;
            };
            /** @description Whether the channel is notified of failures. */
            sendFailure?: boolean;
            /** @description Whether the channel is notified when a failing or degraded check passes again. */
            sendRecovery?: boolean;
            /** @description Whether the channel is notified of degraded checks. */
            sendDegraded?: boolean;
            /** @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures. */
            sendLocationSilent?: boolean | null;
            /** @description Whether the channel is notified of certificates that expire soon. */
            sslExpiry?: boolean;
            /** @description How many days before a certificate expires the channel is notified, once. */
            sslExpiryThreshold?: number;
            /** @description The checks that the channel is notified of. */
            subscriptions?: {
                /** @description The id of the check. */
                checkId: string;
                /** @description Whether the channel is notified of the check. */
                activated?: boolean;
            }[];
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
        };
        SmsAlertChannel: {
            /** @enum {string} */
            type: "SMS";
            config: {
                /** @description The phone number with + and the country code, without spaces (E.164). */
                number: string;
                /** @description The name of the recipient. */
                name: string;
            };
            /**
             * @description Whether the channel is notified of failures.
             * @default true
             */
            sendFailure: boolean;
            /**
             * @description Whether the channel is notified when a failing or degraded check passes again.
             * @default true
             */
            sendRecovery: boolean;
            /**
             * @description Whether the channel is notified of degraded checks.
             * @default false
             */
            sendDegraded: boolean;
            /**
             * @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures.
             * @default null
             */
            sendLocationSilent: boolean | null;
            /**
             * @description Whether the channel is notified of certificates that expire soon.
             * @default false
             */
            sslExpiry: boolean;
            /**
             * @description How many days before a certificate expires the channel is notified, once.
             * @default 30
             */
            sslExpiryThreshold: number;
            /**
             * @description The checks that the channel is notified of.
             * @default []
             */
            subscriptions: {
                /** @description The id of the check. */
                checkId: string;
                /**
                 * @description Whether the channel is notified of the check.
                 * @default true
                 */
                activated: boolean;
            }[];
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            id: number;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        SmsAlertChannelInput: {
            /** @enum {string} */
            type: "SMS";
            config: {
                /** @description The phone number with + and the country code, without spaces (E.164). */
                number: string;
                /** @description The name of the recipient. */
                name: string;
            };
            /** @description Whether the channel is notified of failures. */
            sendFailure?: boolean;
            /** @description Whether the channel is notified when a failing or degraded check passes again. */
            sendRecovery?: boolean;
            /** @description Whether the channel is notified of degraded checks. */
            sendDegraded?: boolean;
            /** @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures. */
            sendLocationSilent?: boolean | null;
            /** @description Whether the channel is notified of certificates that expire soon. */
            sslExpiry?: boolean;
            /** @description How many days before a certificate expires the channel is notified, once. */
            sslExpiryThreshold?: number;
            /** @description The checks that the channel is notified of. */
            subscriptions?: {
                /** @description The id of the check. */
                checkId: string;
                /** @description Whether the channel is notified of the check. */
                activated?: boolean;
            }[];
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
        };
        /**
         * @example {
         *       "id": 1,
         *       "name": "Sign in",
         *       "script": "1",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        Snippet: {
            id: number;
            /** @description The name of the snippet, unique in the account. */
            name: string;
            /** @description The code. It is stored and never run. */
            script: string;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        SnippetChanges: {
            /** @description The name of the snippet, unique in the account. */
            name?: string;
            /** @description The code. It is stored and never run. */
            script?: string;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: number;
        };
        /**
         * @example {
         *       "name": "Sign in",
         *       "script": "1"
         *     }
         */
        SnippetInput: {
            /** @description The name of the snippet, unique in the account. */
            name: string;
            /** @description The code. It is stored and never run. */
            script: string;
        };
        /**
         * @example {
         *       "name": "Status",
         *       "url": "example",
         *       "description": null,
         *       "customDomain": null,
         *       "themeColors": {
         *         "light": {
         *           "bodyBackgroundColor": "#f8fafc",
         *           "headerBackgroundColor": "#ffffff",
         *           "headerFontColor": "#0f172a",
         *           "titleFontColor": "#0f172a",
         *           "bodyFontColor": "#334155",
         *           "bodyFontColorMuted": "#64748b",
         *           "navigationFontColor": "#334155",
         *           "linkFontColor": "#1d4ed8",
         *           "cardBackgroundColor": "#ffffff",
         *           "borderColor": "#e2e8f0",
         *           "primaryButtonBackgroundColor": "#1d4ed8",
         *           "primaryButtonFontColor": "#ffffff"
         *         },
         *         "dark": {
         *           "bodyBackgroundColor": "#0b1120",
         *           "headerBackgroundColor": "#0f172a",
         *           "headerFontColor": "#f8fafc",
         *           "titleFontColor": "#f8fafc",
         *           "bodyFontColor": "#cbd5e1",
         *           "bodyFontColorMuted": "#94a3b8",
         *           "navigationFontColor": "#cbd5e1",
         *           "linkFontColor": "#93c5fd",
         *           "cardBackgroundColor": "#1e293b",
         *           "borderColor": "#334155",
         *           "primaryButtonBackgroundColor": "#93c5fd",
         *           "primaryButtonFontColor": "#0b1120"
         *         }
         *       },
         *       "logo": null,
         *       "favicon": null,
         *       "redirectTo": null,
         *       "defaultTheme": "AUTO",
         *       "whiteLabel": false,
         *       "isPrivate": false,
         *       "logicalId": null,
         *       "cards": [],
         *       "hasPassword": false,
         *       "id": "00000000-0000-4000-8000-000000000014"
         *     }
         */
        StatusPage: {
            /** @description The name of the page. */
            name: string;
            /** @description The name of the page in its address. No two pages have the same. */
            url: string;
            /**
             * @description A short description of the page.
             * @default null
             */
            description: string | null;
            /**
             * @description A domain of your own for the page. No two pages have the same.
             * @default null
             */
            customDomain: string | null;
            /**
             * @description The colours of the page. Omitted colours have their defaults.
             * @default {
             *       "light": {
             *         "bodyBackgroundColor": "#f8fafc",
             *         "headerBackgroundColor": "#ffffff",
             *         "headerFontColor": "#0f172a",
             *         "titleFontColor": "#0f172a",
             *         "bodyFontColor": "#334155",
             *         "bodyFontColorMuted": "#64748b",
             *         "navigationFontColor": "#334155",
             *         "linkFontColor": "#1d4ed8",
             *         "cardBackgroundColor": "#ffffff",
             *         "borderColor": "#e2e8f0",
             *         "primaryButtonBackgroundColor": "#1d4ed8",
             *         "primaryButtonFontColor": "#ffffff"
             *       },
             *       "dark": {
             *         "bodyBackgroundColor": "#0b1120",
             *         "headerBackgroundColor": "#0f172a",
             *         "headerFontColor": "#f8fafc",
             *         "titleFontColor": "#f8fafc",
             *         "bodyFontColor": "#cbd5e1",
             *         "bodyFontColorMuted": "#94a3b8",
             *         "navigationFontColor": "#cbd5e1",
             *         "linkFontColor": "#93c5fd",
             *         "cardBackgroundColor": "#1e293b",
             *         "borderColor": "#334155",
             *         "primaryButtonBackgroundColor": "#93c5fd",
             *         "primaryButtonFontColor": "#0b1120"
             *       }
             *     }
             */
            themeColors: {
                /**
                 * @description The colours of the light theme.
                 * @default {
                 *       "bodyBackgroundColor": "#f8fafc",
                 *       "headerBackgroundColor": "#ffffff",
                 *       "headerFontColor": "#0f172a",
                 *       "titleFontColor": "#0f172a",
                 *       "bodyFontColor": "#334155",
                 *       "bodyFontColorMuted": "#64748b",
                 *       "navigationFontColor": "#334155",
                 *       "linkFontColor": "#1d4ed8",
                 *       "cardBackgroundColor": "#ffffff",
                 *       "borderColor": "#e2e8f0",
                 *       "primaryButtonBackgroundColor": "#1d4ed8",
                 *       "primaryButtonFontColor": "#ffffff"
                 *     }
                 */
                light: components["schemas"]["StatusPageLight"];
                /**
                 * @description The colours of the dark theme.
                 * @default {
                 *       "bodyBackgroundColor": "#0b1120",
                 *       "headerBackgroundColor": "#0f172a",
                 *       "headerFontColor": "#f8fafc",
                 *       "titleFontColor": "#f8fafc",
                 *       "bodyFontColor": "#cbd5e1",
                 *       "bodyFontColorMuted": "#94a3b8",
                 *       "navigationFontColor": "#cbd5e1",
                 *       "linkFontColor": "#93c5fd",
                 *       "cardBackgroundColor": "#1e293b",
                 *       "borderColor": "#334155",
                 *       "primaryButtonBackgroundColor": "#93c5fd",
                 *       "primaryButtonFontColor": "#0b1120"
                 *     }
                 */
                dark: components["schemas"]["StatusPageDark"];
            };
            /**
             * @description The image at the top of the page, fetched and served by the service: an http or https URL.
             * @default null
             */
            logo: string | null;
            /**
             * @description The icon in the browser tab, fetched and served by the service: an http or https URL.
             * @default null
             */
            favicon: string | null;
            /**
             * @description The target of the link on the logo: an http or https URL.
             * @default null
             */
            redirectTo: string | null;
            /**
             * @description The theme that readers see first. AUTO: the setting of their system.
             * @default AUTO
             * @enum {string}
             */
            defaultTheme: "LIGHT" | "DARK" | "AUTO";
            /**
             * @description Whether the page hides the name of the product.
             * @default false
             */
            whiteLabel: boolean;
            /**
             * @description Whether only members of the account, and readers who know its password, may see the page.
             * @default false
             */
            isPrivate: boolean;
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            cards: components["schemas"]["StatusPageCard"][];
            /** @description Whether readers can open the page with a password. */
            hasPassword: boolean;
            id: string;
            /** @description What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests. */
            warnings?: components["schemas"]["Warning"][];
        };
        StatusPageCard: {
            id: string;
            name: string;
            /**
             * Format: date
             * @description The day, in UTC.
             */
            created_at: string;
            /**
             * Format: date
             * @description The day, in UTC; that of its creation until it changes.
             */
            updated_at: string;
            services: components["schemas"]["StatusPageCardService"][];
        };
        StatusPageCardChanges: {
            /** @description The heading of the card. */
            name: string;
            /** @description The ids of the services in display order, or the services as a response contains them. */
            services?: (string | components["schemas"]["StatusPageCardServiceInput"])[];
            /**
             * Format: uuid
             * @description The id of a card of this page. If omitted, a card of the same name keeps its id.
             */
            id?: string;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
        };
        StatusPageCardService: {
            /** @description The name of the service. */
            name: string;
            id: string;
            accountId: string;
            /**
             * Format: date
             * @description The day, in UTC.
             */
            created_at: string;
            /**
             * Format: date
             * @description The day, in UTC; that of its creation until it changes.
             */
            updated_at: string;
        };
        StatusPageCardServiceInput: {
            name?: unknown;
            checkIds?: unknown;
            checkTags?: unknown;
            heartbeatIds?: unknown;
            failureRule?: unknown;
            failureLocations?: unknown;
            showUptime?: unknown;
            logicalId?: unknown;
            /** Format: uuid */
            id: string;
            accountId?: unknown;
            created_at?: unknown;
            updated_at?: unknown;
        };
        StatusPageChanges: {
            /** @description The name of the page. */
            name?: string;
            /** @description The name of the page in its address. No two pages have the same. */
            url?: string;
            /** @description A short description of the page. */
            description?: string | null;
            /** @description A domain of your own for the page. No two pages have the same. */
            customDomain?: string | null;
            /** @description The colours of the page. Omitted colours have their defaults. */
            themeColors?: {
                /** @description The colours of the light theme. */
                light?: components["schemas"]["StatusPageLightInput"];
                /** @description The colours of the dark theme. */
                dark?: components["schemas"]["StatusPageDarkInput"];
            };
            /** @description The image at the top of the page, fetched and served by the service: an http or https URL. */
            logo?: string | null;
            /** @description The icon in the browser tab, fetched and served by the service: an http or https URL. */
            favicon?: string | null;
            /** @description The target of the link on the logo: an http or https URL. */
            redirectTo?: string | null;
            /**
             * @description The theme that readers see first. AUTO: the setting of their system.
             * @enum {string}
             */
            defaultTheme?: "LIGHT" | "DARK" | "AUTO";
            /** @description Whether the page hides the name of the product. */
            whiteLabel?: boolean;
            /** @description Whether only members of the account, and readers who know its password, may see the page. */
            isPrivate?: boolean;
            /** @description The password that opens the page while it is private; null for none. Responses never contain it. Changing it signs out all readers. */
            password?: string | null;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            /** @description All cards of the page in display order. */
            cards?: components["schemas"]["StatusPageCardChanges"][];
            readonly hasPassword?: unknown;
            readonly warnings?: unknown;
            /** @description The same as in the path. */
            id?: string;
        };
        StatusPageDark: {
            /**
             * @description A CSS hex colour, for example #0b1120, its default.
             * @default #0b1120
             */
            bodyBackgroundColor: string;
            /**
             * @description A CSS hex colour, for example #0f172a, its default.
             * @default #0f172a
             */
            headerBackgroundColor: string;
            /**
             * @description A CSS hex colour, for example #f8fafc, its default.
             * @default #f8fafc
             */
            headerFontColor: string;
            /**
             * @description A CSS hex colour, for example #f8fafc, its default.
             * @default #f8fafc
             */
            titleFontColor: string;
            /**
             * @description A CSS hex colour, for example #cbd5e1, its default.
             * @default #cbd5e1
             */
            bodyFontColor: string;
            /**
             * @description A CSS hex colour, for example #94a3b8, its default.
             * @default #94a3b8
             */
            bodyFontColorMuted: string;
            /**
             * @description A CSS hex colour, for example #cbd5e1, its default.
             * @default #cbd5e1
             */
            navigationFontColor: string;
            /**
             * @description A CSS hex colour, for example #93c5fd, its default.
             * @default #93c5fd
             */
            linkFontColor: string;
            /**
             * @description A CSS hex colour, for example #1e293b, its default.
             * @default #1e293b
             */
            cardBackgroundColor: string;
            /**
             * @description A CSS hex colour, for example #334155, its default.
             * @default #334155
             */
            borderColor: string;
            /**
             * @description A CSS hex colour, for example #93c5fd, its default.
             * @default #93c5fd
             */
            primaryButtonBackgroundColor: string;
            /**
             * @description A CSS hex colour, for example #0b1120, its default.
             * @default #0b1120
             */
            primaryButtonFontColor: string;
        };
        StatusPageDarkInput: {
            /** @description A CSS hex colour, for example #0b1120, its default. */
            bodyBackgroundColor?: string;
            /** @description A CSS hex colour, for example #0f172a, its default. */
            headerBackgroundColor?: string;
            /** @description A CSS hex colour, for example #f8fafc, its default. */
            headerFontColor?: string;
            /** @description A CSS hex colour, for example #f8fafc, its default. */
            titleFontColor?: string;
            /** @description A CSS hex colour, for example #cbd5e1, its default. */
            bodyFontColor?: string;
            /** @description A CSS hex colour, for example #94a3b8, its default. */
            bodyFontColorMuted?: string;
            /** @description A CSS hex colour, for example #cbd5e1, its default. */
            navigationFontColor?: string;
            /** @description A CSS hex colour, for example #93c5fd, its default. */
            linkFontColor?: string;
            /** @description A CSS hex colour, for example #1e293b, its default. */
            cardBackgroundColor?: string;
            /** @description A CSS hex colour, for example #334155, its default. */
            borderColor?: string;
            /** @description A CSS hex colour, for example #93c5fd, its default. */
            primaryButtonBackgroundColor?: string;
            /** @description A CSS hex colour, for example #0b1120, its default. */
            primaryButtonFontColor?: string;
        };
        /**
         * @example {
         *       "name": "The API is slow",
         *       "severity": "MINOR",
         *       "services": [
         *         "00000000-0000-4000-8000-000000000002"
         *       ],
         *       "isDraft": false,
         *       "postMortem": null,
         *       "id": "00000000-0000-4000-8000-000000000015",
         *       "incidentUpdates": [
         *         {
         *           "status": "INVESTIGATING",
         *           "description": "We look into it.",
         *           "publicIncidentUpdateDate": "2026-01-31T12:00:00.000Z",
         *           "notifySubscribers": false,
         *           "id": "00000000-0000-4000-8000-000000000016",
         *           "incidentId": "00000000-0000-4000-8000-000000000015",
         *           "created_at": "2026-01-31T12:00:00.000Z",
         *           "updated_at": null
         *         }
         *       ],
         *       "lastUpdateStatus": "INVESTIGATING",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        StatusPageIncident: {
            /** @description The name of the incident. */
            name: string;
            /**
             * @description How severe it is.
             * @enum {string}
             */
            severity: "CRITICAL" | "MAJOR" | "MEDIUM" | "MINOR";
            /**
             * @description The ids of the affected services. The incident appears on the pages that contain one of them.
             * @default []
             */
            services: string[];
            /**
             * @description Whether only the account sees the incident: on no page, in no state, and nobody is notified. Once published, it cannot become a draft again.
             * @default false
             */
            isDraft: boolean;
            /**
             * @description What happened and why, in Markdown of at most 64 KiB. Readers see it once the incident is resolved.
             * @default null
             */
            postMortem: string | null;
            id: string;
            /** @description Oldest first. */
            incidentUpdates: components["schemas"]["StatusPageIncidentUpdate"][];
            /**
             * @description The status of the latest update.
             * @enum {string}
             */
            lastUpdateStatus: "INVESTIGATING" | "IDENTIFIED" | "MONITORING" | "RESOLVED";
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        StatusPageIncidentChanges: {
            /** @description The name of the incident. */
            name?: string;
            /**
             * @description How severe it is.
             * @enum {string}
             */
            severity?: "CRITICAL" | "MAJOR" | "MEDIUM" | "MINOR";
            /** @description The ids of the affected services. The incident appears on the pages that contain one of them. */
            services?: string[];
            /** @description Whether only the account sees the incident: on no page, in no state, and nobody is notified. Once published, it cannot become a draft again. */
            isDraft?: boolean;
            /** @description What happened and why, in Markdown of at most 64 KiB. Readers see it once the incident is resolved. */
            postMortem?: string | null;
            readonly lastUpdateStatus?: unknown;
            readonly incidentUpdates?: unknown;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "name": "The API is slow",
         *       "severity": "MINOR",
         *       "services": [
         *         "00000000-0000-4000-8000-000000000002"
         *       ],
         *       "incidentUpdates": [
         *         {
         *           "status": "INVESTIGATING",
         *           "description": "We look into it."
         *         }
         *       ]
         *     }
         */
        StatusPageIncidentInput: {
            /** @description The name of the incident. */
            name: string;
            /**
             * @description How severe it is.
             * @enum {string}
             */
            severity: "CRITICAL" | "MAJOR" | "MEDIUM" | "MINOR";
            /** @description The ids of the affected services. The incident appears on the pages that contain one of them. */
            services?: string[];
            /** @description Whether only the account sees the incident: on no page, in no state, and nobody is notified. Once published, it cannot become a draft again. */
            isDraft?: boolean;
            /** @description What happened and why, in Markdown of at most 64 KiB. Readers see it once the incident is resolved. */
            postMortem?: string | null;
            /** @description The first updates, oldest first; at least one. */
            incidentUpdates: components["schemas"]["StatusPageIncidentUpdateInput"][];
        };
        /**
         * @example {
         *       "status": "INVESTIGATING",
         *       "description": "We look into it.",
         *       "publicIncidentUpdateDate": "2026-01-31T12:00:00.000Z",
         *       "notifySubscribers": false,
         *       "id": "00000000-0000-4000-8000-000000000017",
         *       "incidentId": "00000000-0000-4000-8000-000000000018",
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        StatusPageIncidentUpdate: {
            /**
             * @description The status of the incident.
             * @enum {string}
             */
            status: "INVESTIGATING" | "IDENTIFIED" | "MONITORING" | "RESOLVED";
            /** @description The text that readers see. */
            description: string;
            /** Format: date-time */
            publicIncidentUpdateDate: string;
            /**
             * @description Whether the subscribers of the page are notified.
             * @default false
             */
            notifySubscribers: boolean;
            id: string;
            incidentId: string;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        StatusPageIncidentUpdateChanges: {
            /**
             * @description The status of the incident.
             * @enum {string}
             */
            status?: "INVESTIGATING" | "IDENTIFIED" | "MONITORING" | "RESOLVED";
            /** @description The text that readers see. */
            description?: string;
            /** @description The time that readers see; null for the time of creation. */
            publicIncidentUpdateDate?: string | null;
            /** @description Whether the subscribers of the page are notified. */
            notifySubscribers?: boolean;
            readonly incidentId?: unknown;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "status": "INVESTIGATING",
         *       "description": "We look into it."
         *     }
         */
        StatusPageIncidentUpdateInput: {
            /**
             * @description The status of the incident.
             * @enum {string}
             */
            status: "INVESTIGATING" | "IDENTIFIED" | "MONITORING" | "RESOLVED";
            /** @description The text that readers see. */
            description: string;
            /** @description The time that readers see; null for the time of creation. */
            publicIncidentUpdateDate?: string | null;
            /** @description Whether the subscribers of the page are notified. */
            notifySubscribers?: boolean;
        };
        /**
         * @example {
         *       "name": "Status",
         *       "url": "example"
         *     }
         */
        StatusPageInput: {
            /** @description The name of the page. */
            name: string;
            /** @description The name of the page in its address. No two pages have the same. */
            url: string;
            /** @description A short description of the page. */
            description?: string | null;
            /** @description A domain of your own for the page. No two pages have the same. */
            customDomain?: string | null;
            /** @description The colours of the page. Omitted colours have their defaults. */
            themeColors?: {
                /** @description The colours of the light theme. */
                light?: components["schemas"]["StatusPageLightInput"];
                /** @description The colours of the dark theme. */
                dark?: components["schemas"]["StatusPageDarkInput"];
            };
            /** @description The image at the top of the page, fetched and served by the service: an http or https URL. */
            logo?: string | null;
            /** @description The icon in the browser tab, fetched and served by the service: an http or https URL. */
            favicon?: string | null;
            /** @description The target of the link on the logo: an http or https URL. */
            redirectTo?: string | null;
            /** @description The theme that readers see first. AUTO: the setting of their system. */
            defaultTheme?: "LIGHT" | "DARK" | "AUTO";
            /** @description Whether the page hides the name of the product. */
            whiteLabel?: boolean;
            /** @description Whether only members of the account, and readers who know its password, may see the page. */
            isPrivate?: boolean;
            /** @description The password that opens the page while it is private; null for none. Responses never contain it. Changing it signs out all readers. */
            password?: string | null;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            /** @description The cards of the page in display order. */
            cards?: {
                /** @description The heading of the card. */
                name: string;
                /** @description The ids of the services in display order, or the services as a response contains them. */
                services?: (string | components["schemas"]["StatusPageCardServiceInput"])[];
            }[];
            readonly warnings?: unknown;
        };
        StatusPageLight: {
            /**
             * @description A CSS hex colour, for example #f8fafc, its default.
             * @default #f8fafc
             */
            bodyBackgroundColor: string;
            /**
             * @description A CSS hex colour, for example #ffffff, its default.
             * @default #ffffff
             */
            headerBackgroundColor: string;
            /**
             * @description A CSS hex colour, for example #0f172a, its default.
             * @default #0f172a
             */
            headerFontColor: string;
            /**
             * @description A CSS hex colour, for example #0f172a, its default.
             * @default #0f172a
             */
            titleFontColor: string;
            /**
             * @description A CSS hex colour, for example #334155, its default.
             * @default #334155
             */
            bodyFontColor: string;
            /**
             * @description A CSS hex colour, for example #64748b, its default.
             * @default #64748b
             */
            bodyFontColorMuted: string;
            /**
             * @description A CSS hex colour, for example #334155, its default.
             * @default #334155
             */
            navigationFontColor: string;
            /**
             * @description A CSS hex colour, for example #1d4ed8, its default.
             * @default #1d4ed8
             */
            linkFontColor: string;
            /**
             * @description A CSS hex colour, for example #ffffff, its default.
             * @default #ffffff
             */
            cardBackgroundColor: string;
            /**
             * @description A CSS hex colour, for example #e2e8f0, its default.
             * @default #e2e8f0
             */
            borderColor: string;
            /**
             * @description A CSS hex colour, for example #1d4ed8, its default.
             * @default #1d4ed8
             */
            primaryButtonBackgroundColor: string;
            /**
             * @description A CSS hex colour, for example #ffffff, its default.
             * @default #ffffff
             */
            primaryButtonFontColor: string;
        };
        StatusPageLightInput: {
            /** @description A CSS hex colour, for example #f8fafc, its default. */
            bodyBackgroundColor?: string;
            /** @description A CSS hex colour, for example #ffffff, its default. */
            headerBackgroundColor?: string;
            /** @description A CSS hex colour, for example #0f172a, its default. */
            headerFontColor?: string;
            /** @description A CSS hex colour, for example #0f172a, its default. */
            titleFontColor?: string;
            /** @description A CSS hex colour, for example #334155, its default. */
            bodyFontColor?: string;
            /** @description A CSS hex colour, for example #64748b, its default. */
            bodyFontColorMuted?: string;
            /** @description A CSS hex colour, for example #334155, its default. */
            navigationFontColor?: string;
            /** @description A CSS hex colour, for example #1d4ed8, its default. */
            linkFontColor?: string;
            /** @description A CSS hex colour, for example #ffffff, its default. */
            cardBackgroundColor?: string;
            /** @description A CSS hex colour, for example #e2e8f0, its default. */
            borderColor?: string;
            /** @description A CSS hex colour, for example #1d4ed8, its default. */
            primaryButtonBackgroundColor?: string;
            /** @description A CSS hex colour, for example #ffffff, its default. */
            primaryButtonFontColor?: string;
        };
        /**
         * @example {
         *       "name": "API",
         *       "checkIds": [],
         *       "checkTags": [],
         *       "heartbeatIds": [],
         *       "failureRule": "ANY",
         *       "failureLocations": null,
         *       "showUptime": true,
         *       "logicalId": null,
         *       "id": "00000000-0000-4000-8000-000000000002",
         *       "accountId": "00000000-0000-4000-8000-000000000003",
         *       "created_at": "2026-01-31",
         *       "updated_at": "2026-01-31"
         *     }
         */
        StatusPageService: {
            /** @description The name of the service. */
            name: string;
            /**
             * @description The ids of the checks that measure the service, without heartbeats.
             * @default []
             */
            checkIds: string[];
            /**
             * @description All checks and heartbeats with one of these tags, or whose group has one, measure the service, too.
             * @default []
             */
            checkTags: string[];
            /**
             * @description The ids of the heartbeats that measure the service.
             * @default []
             */
            heartbeatIds: string[];
            /**
             * @description When the service has an outage. ANY: a check fails (a partial outage, and a major one when all fail). ALL: all checks fail; fewer degrade the service. LOCATIONS: as ANY, with checks that fail in `failureLocations` locations at once.
             * @default ANY
             * @enum {string}
             */
            failureRule: "ANY" | "ALL" | "LOCATIONS";
            /**
             * @description Required with the rule LOCATIONS, not used with others: in how many locations a check must fail at once. A check with fewer locations must fail in all of them.
             * @default null
             */
            failureLocations: number | null;
            /**
             * @description Whether pages show the availability of the last 90 days.
             * @default true
             */
            showUptime: boolean;
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            id: string;
            accountId: string;
            /**
             * Format: date
             * @description The day, in UTC.
             */
            created_at: string;
            /**
             * Format: date
             * @description The day, in UTC; that of its creation until it changes.
             */
            updated_at: string;
        };
        StatusPageServiceChanges: {
            /** @description The name of the service. */
            name?: string;
            /** @description The ids of the checks that measure the service, without heartbeats. */
            checkIds?: string[];
            /** @description All checks and heartbeats with one of these tags, or whose group has one, measure the service, too. */
            checkTags?: string[];
            /** @description The ids of the heartbeats that measure the service. */
            heartbeatIds?: string[];
            /**
             * @description When the service has an outage. ANY: a check fails (a partial outage, and a major one when all fail). ALL: all checks fail; fewer degrade the service. LOCATIONS: as ANY, with checks that fail in `failureLocations` locations at once.
             * @enum {string}
             */
            failureRule?: "ANY" | "ALL" | "LOCATIONS";
            /** @description Required with the rule LOCATIONS, not used with others: in how many locations a check must fail at once. A check with fewer locations must fail in all of them. */
            failureLocations?: number | null;
            /** @description Whether pages show the availability of the last 90 days. */
            showUptime?: boolean;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
            readonly accountId?: unknown;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "name": "API"
         *     }
         */
        StatusPageServiceInput: {
            /** @description The name of the service. */
            name: string;
            /** @description The ids of the checks that measure the service, without heartbeats. */
            checkIds?: string[];
            /** @description All checks and heartbeats with one of these tags, or whose group has one, measure the service, too. */
            checkTags?: string[];
            /** @description The ids of the heartbeats that measure the service. */
            heartbeatIds?: string[];
            /** @description When the service has an outage. ANY: a check fails (a partial outage, and a major one when all fail). ALL: all checks fail; fewer degrade the service. LOCATIONS: as ANY, with checks that fail in `failureLocations` locations at once. */
            failureRule?: "ANY" | "ALL" | "LOCATIONS";
            /** @description Required with the rule LOCATIONS, not used with others: in how many locations a check must fail at once. A check with fewer locations must fail in all of them. */
            failureLocations?: number | null;
            /** @description Whether pages show the availability of the last 90 days. */
            showUptime?: boolean;
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000038",
         *       "kind": "email",
         *       "address": "shop@subscriber.test",
         *       "state": "active",
         *       "services": null,
         *       "bounces": 0,
         *       "confirmedAt": "2026-01-31T12:00:00.000Z",
         *       "suspendedUntil": null,
         *       "created_at": "2026-01-31T12:00:00.000Z"
         *     }
         */
        StatusPageSubscriber: {
            id: string;
            /** @enum {string} */
            kind: "email" | "webhook";
            /** @description The email address or the URL. Shortened for roles other than admin; null if no key decrypts it. */
            address: string | null;
            /**
             * @description `unconfirmed`: nobody has confirmed the address yet; `active`; `suspended`: the address refused a message and gets none for a day.
             * @enum {string}
             */
            state: "unconfirmed" | "active" | "suspended";
            /** @description The ids of the services whose incidents are sent; null for all of the page. */
            services: string[] | null;
            /** @description Messages in a row that the address refused. */
            bounces: number;
            confirmedAt: string | null;
            suspendedUntil: string | null;
            /** Format: date-time */
            created_at: string;
        };
        StatusPageSummary: {
            id: string;
            name: string;
            url: string;
            /**
             * @description The worst of its services.
             * @enum {string}
             */
            state: "OPERATIONAL" | "DEGRADED" | "PARTIAL_OUTAGE" | "MAJOR_OUTAGE";
            cards: {
                id: string;
                name: string;
                services: {
                    id: string;
                    name: string;
                    /**
                     * @description The worst of the open incidents that name it.
                     * @enum {string}
                     */
                    state: "OPERATIONAL" | "DEGRADED" | "PARTIAL_OUTAGE" | "MAJOR_OUTAGE";
                }[];
            }[];
            /** @description The open ones, newest first, 100 at most, each with its first update. */
            incidents: components["schemas"]["StatusPageIncident"][];
        };
        /**
         * @example {
         *       "checkType": "TCP",
         *       "name": "Homepage",
         *       "activated": true,
         *       "muted": false,
         *       "doubleCheck": true,
         *       "shouldFail": false,
         *       "locations": null,
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "tags": [],
         *       "alertSettings": {
         *         "escalationType": "RUN_BASED",
         *         "runBasedEscalation": {
         *           "failedRunThreshold": 1
         *         },
         *         "reminders": {
         *           "amount": 0,
         *           "interval": 5
         *         },
         *         "parallelRunFailureThreshold": {
         *           "enabled": false,
         *           "percentage": 10
         *         }
         *       },
         *       "useGlobalAlertSettings": true,
         *       "groupId": null,
         *       "groupOrder": null,
         *       "runtimeId": null,
         *       "alertChannelSubscriptions": [],
         *       "runParallel": false,
         *       "variables": [],
         *       "description": null,
         *       "frequency": 10,
         *       "degradedResponseTime": 3000,
         *       "maxResponseTime": 5000,
         *       "request": {
         *         "hostname": "example.com",
         *         "port": 443,
         *         "data": null,
         *         "ipFamily": "IPv4",
         *         "assertions": []
         *       },
         *       "id": "00000000-0000-4000-8000-000000000007",
         *       "created_at": "2026-01-31",
         *       "updated_at": null,
         *       "alertChannels": {
         *         "email": [],
         *         "webhook": [],
         *         "slack": [],
         *         "sms": []
         *       },
         *       "warnings": [
         *         {
         *           "code": "LOCATION_WITHOUT_AGENTS",
         *           "message": "No agent of the private location office is connected, so nothing runs there. Start an agent with a key of this location.",
         *           "path": "privateLocations[0]"
         *         }
         *       ]
         *     }
         */
        TcpCheck: {
            /** @enum {string} */
            checkType: "TCP";
            /** @description The name of the check. */
            name: string;
            /**
             * @description Whether the check runs.
             * @default true
             */
            activated: boolean;
            /**
             * @description Whether the check sends no alerts.
             * @default false
             */
            muted: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             * @default true
             */
            doubleCheck: boolean;
            /**
             * @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes.
             * @default false
             */
            shouldFail: boolean;
            /**
             * @description Public locations that run the check. Not needed in a check file.
             * @default null
             */
            locations: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /**
             * @description Private locations that run the check. Not needed in a check file.
             * @default null
             */
            privateLocations: string[] | null;
            /**
             * @description Labels for grouping and filtering.
             * @default []
             */
            tags: string[];
            /** @description When a failure sends alerts. */
            alertSettings: components["schemas"]["AlertSettings"];
            /**
             * @description Whether the alert settings of the account replace those of the check.
             * @default true
             */
            useGlobalAlertSettings: boolean;
            /**
             * @description The id of the group that the check belongs to.
             * @default null
             */
            groupId: number | null;
            /**
             * @description The position of the check in its group.
             * @default null
             */
            groupOrder: number | null;
            /**
             * @description Stored but not used: the agent runs no user code.
             * @default null
             */
            runtimeId: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /**
             * @description The alert channels that are notified of the check.
             * @default []
             */
            alertChannelSubscriptions: {
                alertChannelId: number;
                /** @default true */
                activated: boolean;
            }[];
            /** @description How a failed run is retried; omitted if `doubleCheck` decides. */
            retryStrategy?: components["schemas"]["RetryStrategy"];
            /** @description The incident that a failure opens; omitted if there is none. */
            triggerIncident?: components["schemas"]["TriggerIncident"];
            /**
             * @description Whether all locations run every slot. If false, they run the slots in rotation.
             * @default false
             */
            runParallel: boolean;
            /** @description Values for the check's templates; they take precedence over all other variables. */
            variables: components["schemas"]["CheckVariable"][];
            /**
             * @description A note for users.
             * @default null
             */
            description: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @default 10
             * @enum {number}
             */
            frequency: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description The offset of the slots; omitted if the id decides. */
            frequencyOffset?: number;
            /**
             * @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold.
             * @default 3000
             */
            degradedResponseTime: number | null;
            /**
             * @description Milliseconds. A run fails if its response time is longer. null disables the threshold.
             * @default 5000
             */
            maxResponseTime: number | null;
            request: components["schemas"]["TcpRequest"];
            id: string;
            /**
             * Format: date
             * @description The day of its creation, in UTC.
             */
            created_at: string;
            /** @description null until the first update. */
            updated_at: string | null;
            alertChannels: components["schemas"]["CheckAlertChannels"];
            /** @description What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests. */
            warnings?: components["schemas"]["Warning"][];
        };
        TcpCheckChanges: {
            /** @description The name of the check. */
            name?: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /** @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted. */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableChanges"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @enum {number}
             */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request?: components["schemas"]["TcpRequestInput"];
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            readonly alertChannels?: unknown;
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "TCP";
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "name": "Homepage",
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "request": {
         *         "hostname": "example.com",
         *         "port": 443
         *       }
         *     }
         */
        TcpCheckInput: {
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request: components["schemas"]["TcpRequestInput"];
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "TCP";
        };
        TcpCheckResult: {
            request: components["schemas"]["TcpCheckResultRequest"];
            response: components["schemas"]["TcpCheckResultResponse"] | null;
            assertions: components["schemas"]["AssertionResult"][];
            requestError: string | null;
            requestErrorCode: string | null;
            jobLog: components["schemas"]["JobLogEntry"][];
            jobAssets: string[];
            pcapDataUrl: string | null;
            /** @default null */
            traceroute: components["schemas"]["Traceroute"] | null;
            timing?: {
                uncertaintyMs: number;
                clock: string;
            };
            timings: components["schemas"]["TcpCheckResultTimings"];
            timingPhases: components["schemas"]["TcpCheckResultTimingPhases"];
            /** @default null */
            tcp: components["schemas"]["TcpDetails"] | null;
        };
        TcpCheckResultRequest: {
            hostname: string;
            port: number;
            data: string | null;
            /** @enum {string} */
            ipFamily: "IPv4" | "IPv6";
        };
        TcpCheckResultResponse: {
            data: string;
            address: string;
            port: number;
            /** @enum {string} */
            ipFamily: "IPv4" | "IPv6";
        };
        TcpCheckResultTimingPhases: {
            dns: number;
            connection: number;
            data: number;
            total: number;
        };
        TcpCheckResultTimings: {
            lookup: number | null;
            connect: number | null;
            response: number | null;
            end: number;
        };
        TcpDetails: {
            /** @enum {string} */
            peer: "target" | "proxy";
            rttMs: number;
            minRttMs: number | null;
            retransmits: number;
            mss: number;
        };
        TcpRequest: {
            /** @description A host name or IP address, without scheme or port. */
            hostname: string;
            /** @description The port to connect to. */
            port: number;
            /**
             * @description The text to send after connecting.
             * @default null
             */
            data: string | null;
            /**
             * @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6.
             * @default IPv4
             * @enum {string}
             */
            ipFamily: "IPv4" | "IPv6";
            /**
             * @description The conditions that the response must meet; see Assertions.
             * @default []
             */
            assertions: components["schemas"]["TcpRequestAssertion"][];
        };
        TcpRequestAssertion: {
            /** @enum {string} */
            source: "RESPONSE_DATA" | "RESPONSE_TIME";
            /** @default  */
            property: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            /** @default  */
            target: string;
            /** @default null */
            regex: string | null;
        };
        TcpRequestAssertionInput: {
            /** @enum {string} */
            source: "RESPONSE_DATA" | "RESPONSE_TIME";
            property?: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            target?: string;
            regex?: string | null;
        };
        TcpRequestInput: {
            /** @description A host name or IP address, without scheme or port. */
            hostname: string;
            /** @description The port to connect to. */
            port: number;
            /** @description The text to send after connecting. */
            data?: string | null;
            /** @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6. */
            ipFamily?: "IPv4" | "IPv6";
            /** @description The conditions that the response must meet; see Assertions. */
            assertions?: components["schemas"]["TcpRequestAssertionInput"][];
        };
        TestAlertChannelResponse: {
            /** @description Whether the receiver accepted it. */
            delivered: boolean;
            /** @description The HTTP or SMTP status; null without a response. */
            status: number | null;
            /** @description Why it was not delivered, or a problem that did not prevent the delivery; null for none. */
            error: string | null;
        };
        /**
         * @example {
         *       "id": "00000000-0000-4000-8000-000000000012",
         *       "link": "/v1/test-sessions/00000000-0000-4000-8000-000000000012",
         *       "name": null,
         *       "projectId": null,
         *       "environment": null,
         *       "provider": null,
         *       "repository": null,
         *       "branch": null,
         *       "commitId": null,
         *       "hasFailures": false,
         *       "counts": {
         *         "passed": 0,
         *         "degraded": 0,
         *         "failed": 0,
         *         "error": 0,
         *         "cancelled": 0,
         *         "missed": 0
         *       },
         *       "results": 0,
         *       "missed": [],
         *       "errorGroupIds": [],
         *       "startedAt": null,
         *       "stoppedAt": null,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        TestSession: {
            id: string;
            /** @description The path of the session in this API. */
            link: string;
            name: string | null;
            projectId: string | null;
            environment: string | null;
            provider: string | null;
            repository: string | null;
            branch: string | null;
            commitId: string | null;
            /** @description Whether any run failed, had an error, was cancelled or was missed. */
            hasFailures: boolean;
            /** @description Runs by their outcome. */
            counts: components["schemas"]["TestSessionCounts"];
            /** @description All results, including attempts before a retry. */
            results: number;
            missed: components["schemas"]["TestSessionMissed"][];
            /** @description Of all its results, at most 1000. */
            errorGroupIds: string[];
            /** @description null without a result. */
            startedAt: string | null;
            stoppedAt: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description When results were last added; null for never. */
            updated_at: string | null;
        };
        TestSessionCounts: {
            passed: number;
            degraded: number;
            failed: number;
            /** @description Runs without a verdict, by a fault outside the target. */
            error: number;
            cancelled: number;
            missed: number;
        };
        TestSessionErrorGroup: {
            id: string;
            /** @description SHA-256 of cleanedErrorMessage, in hex digits. */
            errorHash: string;
            /** @description The message of the earliest failure; null if it has none. */
            rawErrorMessage: string | null;
            /** @description With placeholders for the parts that differ between failures. */
            cleanedErrorMessage: string;
            /**
             * Format: date-time
             * @description When the earliest failed run began.
             */
            firstSeen: string;
            /**
             * Format: date-time
             * @description When the latest failed run began.
             */
            lastSeen: string;
            /** @description Whether the group is archived, also for ever (archiveForEver). */
            archivedUntilNextEvent: boolean;
            /** @description Newest first. */
            rootCauseAnalyses: {
                [key: string]: unknown;
            }[];
            /** @description null for sessions without a project. */
            projectId: string | null;
            /** @description The environments of the failed runs, sorted; null if no session has one. */
            environments: string[] | null;
            /** @description Always null. */
            pwtMetadata: null;
        };
        /** @example {} */
        TestSessionInput: {
            /** @description The name of the session. */
            name?: string | null;
            projectId?: string | null;
            /** @description What the checks ran against, for example staging. */
            environment?: string | null;
            /** @description What ran the session, for example the name of the CI system. */
            provider?: string | null;
            /** @description The repository of the code. */
            repository?: string | null;
            /** @description The branch of the code. */
            branch?: string | null;
            /** @description The commit of the code. */
            commitId?: string | null;
            /**
             * Format: uuid
             * @description Chosen by you, to repeat a request without effect, and to add further results. If omitted, a new one.
             */
            id?: string;
            /** @description The result objects that `vedette run --output json` prints, one on each line, as in GET /v1/check-results. */
            results?: unknown[];
            /** @description The `missed` objects that it prints: slots without a run. */
            missed?: {
                checkId: string;
                slot: number;
                lastSlot: number;
                count: number;
                reason: string;
            }[];
        };
        TestSessionMissed: {
            checkId: string;
            slot: number;
            lastSlot: number;
            count: number;
            reason: string;
        };
        TlsDetails: {
            protocol: string | null;
            cipher: string | null;
            alpnProtocol: string | null;
            authorized: boolean;
            certificate: components["schemas"]["Certificate"] | null;
        };
        TooManyRequestsError: {
            /** @constant */
            statusCode: 429;
            /** @constant */
            error: "Too Many Requests";
            message: string;
            attributes: {
                limit?: number;
                /** @description When to try again. */
                retryAfterSeconds?: number;
            } & {
                [key: string]: unknown;
            };
        };
        Traceroute: {
            hostname: string;
            resolvedIp: string;
            hops: components["schemas"]["TracerouteHop"][];
            destinationReached: boolean;
            truncationReason: string | null;
        };
        TracerouteHop: {
            hop: number;
            address: string | null;
            host: string | null;
            sent: number;
            received: number;
            lossPercent: number;
            lastMs: number | null;
            avgMs: number | null;
            bestMs: number | null;
            worstMs: number | null;
            stdDevMs: number | null;
        };
        TriggerIncident: {
            serviceId: string;
            /** @enum {string} */
            severity: "CRITICAL" | "MAJOR" | "MEDIUM" | "MINOR";
            name: string;
            /** @default  */
            description: string;
            /** @default false */
            notifySubscribers: boolean;
        };
        TriggerIncidentInput: {
            serviceId: string;
            /** @enum {string} */
            severity: "CRITICAL" | "MAJOR" | "MEDIUM" | "MINOR";
            name: string;
            description?: string;
            notifySubscribers?: boolean;
        };
        TypedApiCheckInput: {
            /** @enum {string} */
            checkType: "API";
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request: components["schemas"]["ApiRequestInput"];
            readonly warnings?: unknown;
        };
        TypedDnsCheckInput: {
            /** @enum {string} */
            checkType: "DNS";
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request: components["schemas"]["DnsRequestInput"];
            readonly warnings?: unknown;
        };
        TypedIcmpCheckInput: {
            /** @enum {string} */
            checkType: "ICMP";
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Percent. A run is degraded if its packet loss is this high or higher. */
            degradedPacketLossThreshold?: number;
            /** @description Percent. A run fails if its packet loss is this high or higher. */
            maxPacketLossThreshold?: number;
            request: components["schemas"]["IcmpRequestInput"];
            readonly warnings?: unknown;
        };
        TypedTcpCheckInput: {
            /** @enum {string} */
            checkType: "TCP";
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request: components["schemas"]["TcpRequestInput"];
            readonly warnings?: unknown;
        };
        TypedUrlCheckInput: {
            /** @enum {string} */
            checkType: "URL";
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request: components["schemas"]["UrlRequestInput"];
            readonly warnings?: unknown;
        };
        UnauthorizedError: {
            /** @constant */
            statusCode: 401;
            /** @constant */
            error: "Unauthorized";
            message: string;
            attributes: {
                /** @description Which key to send. */
                advice?: string;
            } & {
                [key: string]: unknown;
            };
        };
        UnsupportedMediaTypeError: {
            /** @constant */
            statusCode: 415;
            /** @constant */
            error: "Unsupported Media Type";
            message: string;
            attributes: {
                allowed?: string[];
            } & {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "checkType": "URL",
         *       "name": "Homepage",
         *       "activated": true,
         *       "muted": false,
         *       "doubleCheck": true,
         *       "shouldFail": false,
         *       "locations": null,
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "tags": [],
         *       "alertSettings": {
         *         "escalationType": "RUN_BASED",
         *         "runBasedEscalation": {
         *           "failedRunThreshold": 1
         *         },
         *         "reminders": {
         *           "amount": 0,
         *           "interval": 5
         *         },
         *         "parallelRunFailureThreshold": {
         *           "enabled": false,
         *           "percentage": 10
         *         }
         *       },
         *       "useGlobalAlertSettings": true,
         *       "groupId": null,
         *       "groupOrder": null,
         *       "runtimeId": null,
         *       "alertChannelSubscriptions": [],
         *       "runParallel": false,
         *       "variables": [],
         *       "description": null,
         *       "frequency": 10,
         *       "degradedResponseTime": 3000,
         *       "maxResponseTime": 5000,
         *       "request": {
         *         "url": "https://example.com/",
         *         "method": "GET",
         *         "followRedirects": true,
         *         "skipSSL": false,
         *         "ipFamily": "IPv4",
         *         "assertions": []
         *       },
         *       "id": "00000000-0000-4000-8000-000000000005",
         *       "created_at": "2026-01-31",
         *       "updated_at": null,
         *       "alertChannels": {
         *         "email": [],
         *         "webhook": [],
         *         "slack": [],
         *         "sms": []
         *       },
         *       "warnings": [
         *         {
         *           "code": "LOCATION_WITHOUT_AGENTS",
         *           "message": "No agent of the private location office is connected, so nothing runs there. Start an agent with a key of this location.",
         *           "path": "privateLocations[0]"
         *         }
         *       ]
         *     }
         */
        UrlCheck: {
            /** @enum {string} */
            checkType: "URL";
            /** @description The name of the check. */
            name: string;
            /**
             * @description Whether the check runs.
             * @default true
             */
            activated: boolean;
            /**
             * @description Whether the check sends no alerts.
             * @default false
             */
            muted: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             * @default true
             */
            doubleCheck: boolean;
            /**
             * @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes.
             * @default false
             */
            shouldFail: boolean;
            /**
             * @description Public locations that run the check. Not needed in a check file.
             * @default null
             */
            locations: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /**
             * @description Private locations that run the check. Not needed in a check file.
             * @default null
             */
            privateLocations: string[] | null;
            /**
             * @description Labels for grouping and filtering.
             * @default []
             */
            tags: string[];
            /** @description When a failure sends alerts. */
            alertSettings: components["schemas"]["AlertSettings"];
            /**
             * @description Whether the alert settings of the account replace those of the check.
             * @default true
             */
            useGlobalAlertSettings: boolean;
            /**
             * @description The id of the group that the check belongs to.
             * @default null
             */
            groupId: number | null;
            /**
             * @description The position of the check in its group.
             * @default null
             */
            groupOrder: number | null;
            /**
             * @description Stored but not used: the agent runs no user code.
             * @default null
             */
            runtimeId: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /**
             * @description The alert channels that are notified of the check.
             * @default []
             */
            alertChannelSubscriptions: {
                alertChannelId: number;
                /** @default true */
                activated: boolean;
            }[];
            /** @description How a failed run is retried; omitted if `doubleCheck` decides. */
            retryStrategy?: components["schemas"]["RetryStrategy"];
            /** @description The incident that a failure opens; omitted if there is none. */
            triggerIncident?: components["schemas"]["TriggerIncident"];
            /**
             * @description Whether all locations run every slot. If false, they run the slots in rotation.
             * @default false
             */
            runParallel: boolean;
            /** @description Values for the check's templates; they take precedence over all other variables. */
            variables: components["schemas"]["CheckVariable"][];
            /**
             * @description A note for users.
             * @default null
             */
            description: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @default 10
             * @enum {number}
             */
            frequency: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description The offset of the slots; omitted if the id decides. */
            frequencyOffset?: number;
            /**
             * @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold.
             * @default 3000
             */
            degradedResponseTime: number | null;
            /**
             * @description Milliseconds. A run fails if its response time is longer. null disables the threshold.
             * @default 5000
             */
            maxResponseTime: number | null;
            request: components["schemas"]["UrlRequest"];
            id: string;
            /**
             * Format: date
             * @description The day of its creation, in UTC.
             */
            created_at: string;
            /** @description null until the first update. */
            updated_at: string | null;
            alertChannels: components["schemas"]["CheckAlertChannels"];
            /** @description What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests. */
            warnings?: components["schemas"]["Warning"][];
        };
        UrlCheckChanges: {
            /** @description The name of the check. */
            name?: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /** @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted. */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableChanges"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /**
             * @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs.
             * @enum {number}
             */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request?: components["schemas"]["UrlRequestInput"];
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
            readonly alertChannels?: unknown;
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "URL";
            /** @description The same as in the path. */
            id?: string;
        };
        /**
         * @example {
         *       "name": "Homepage",
         *       "privateLocations": [
         *         "office"
         *       ],
         *       "request": {
         *         "url": "https://example.com/"
         *       }
         *     }
         */
        UrlCheckInput: {
            /** @description The name of the check. */
            name: string;
            /** @description Whether the check runs. */
            activated?: boolean;
            /** @description Whether the check sends no alerts. */
            muted?: boolean;
            /**
             * @deprecated
             * @description Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.
             */
            doubleCheck?: boolean;
            /** @description Inverts the criterion: for example, a status of 400 or higher, or no response, passes. */
            shouldFail?: boolean;
            /** @description Public locations that run the check. Not needed in a check file. */
            locations?: ("us-east-1" | "us-east-2" | "us-west-1" | "us-west-2" | "ca-central-1" | "sa-east-1" | "eu-west-1" | "eu-central-1" | "eu-west-2" | "eu-west-3" | "eu-north-1" | "eu-south-1" | "me-south-1" | "ap-southeast-1" | "ap-northeast-1" | "ap-east-1" | "ap-southeast-2" | "ap-southeast-3" | "ap-northeast-2" | "ap-northeast-3" | "ap-south-1" | "af-south-1")[] | null;
            /** @description Private locations that run the check. Not needed in a check file. */
            privateLocations?: string[] | null;
            /** @description Labels for grouping and filtering. */
            tags?: string[];
            /** @description When failures send alerts. */
            alertSettings?: components["schemas"]["AlertSettingsInput"];
            /** @description Whether the alert settings of the account replace those of the check. */
            useGlobalAlertSettings?: boolean;
            /** @description The id of the group that the check belongs to. */
            groupId?: number | null;
            /** @description The position of the check in its group. */
            groupOrder?: number | null;
            /** @description Stored but not used: the agent runs no user code. */
            runtimeId?: ("2026.04" | "2025.04" | "2024.09" | "2024.02" | "2023.09" | "2023.02" | "2022.10") | null;
            /** @description The alert channels that are notified of the check. */
            alertChannelSubscriptions?: {
                alertChannelId: number;
                activated?: boolean;
            }[];
            /** @description How a failed run is retried; null for no retries. */
            retryStrategy?: components["schemas"]["RetryStrategyInput"] | null;
            /** @description The incident that a failure opens on a status page. */
            triggerIncident?: components["schemas"]["TriggerIncidentInput"] | null;
            /** @description Whether all locations run every slot. If false, they run the slots in rotation. */
            runParallel?: boolean;
            /** @description Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables. */
            variables?: components["schemas"]["CheckVariableInput"][];
            /** @description A note for users. */
            description?: string | null;
            /** @description The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file. */
            logicalId?: string | null;
            /** @description Minutes between runs. 0 (API and TCP only): `frequencyOffset` gives the seconds between runs. */
            frequency?: 0 | 1 | 2 | 5 | 10 | 15 | 30 | 60 | 120 | 180 | 360 | 720 | 1440;
            /** @description If `frequency` is 0: the seconds between runs, 10, 20 or 30 (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check. */
            frequencyOffset?: number | null;
            /** @description Milliseconds. A run is degraded if its response time is longer. null disables the threshold. */
            degradedResponseTime?: number | null;
            /** @description Milliseconds. A run fails if its response time is longer. null disables the threshold. */
            maxResponseTime?: number | null;
            request: components["schemas"]["UrlRequestInput"];
            readonly warnings?: unknown;
            /** @enum {string} */
            checkType?: "URL";
        };
        UrlRequest: {
            /** @description An http or https URL. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value. */
            url: string;
            /**
             * @description The HTTP method, always GET.
             * @default GET
             * @enum {string}
             */
            method: "GET";
            /**
             * @description Whether redirects are followed, at most 10.
             * @default true
             */
            followRedirects: boolean;
            /**
             * @description Whether any server certificate is accepted.
             * @default false
             */
            skipSSL: boolean;
            /**
             * @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6.
             * @default IPv4
             * @enum {string}
             */
            ipFamily: "IPv4" | "IPv6";
            /**
             * @description The conditions that the response must meet; see Assertions.
             * @default []
             */
            assertions: components["schemas"]["UrlRequestAssertion"][];
        };
        UrlRequestAssertion: {
            /** @enum {string} */
            source: "STATUS_CODE";
            /** @default  */
            property: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            /** @default  */
            target: string;
            /** @default null */
            regex: string | null;
        };
        UrlRequestAssertionInput: {
            /** @enum {string} */
            source: "STATUS_CODE";
            property?: string;
            /** @enum {string} */
            comparison: "EQUALS" | "NOT_EQUALS" | "HAS_KEY" | "NOT_HAS_KEY" | "HAS_VALUE" | "NOT_HAS_VALUE" | "IS_EMPTY" | "NOT_EMPTY" | "GREATER_THAN" | "LESS_THAN" | "CONTAINS" | "NOT_CONTAINS" | "IS_NULL" | "NOT_NULL";
            target?: string;
            regex?: string | null;
        };
        UrlRequestInput: {
            /** @description An http or https URL. A password in it, or a user name without a password, is returned as ********. An update that sends ******** keeps the stored value; a URL without it removes the value. */
            url: string;
            /** @description The HTTP method, always GET. */
            method?: "GET";
            /** @description Whether redirects are followed, at most 10. */
            followRedirects?: boolean;
            /** @description Whether any server certificate is accepted. */
            skipSSL?: boolean;
            /** @description The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6. */
            ipFamily?: "IPv4" | "IPv6";
            /** @description The conditions that the response must meet; see Assertions. */
            assertions?: components["schemas"]["UrlRequestAssertionInput"][];
        };
        User: {
            id: string;
            email: string;
            /**
             * @description What the user may do; each role includes those before it.
             * @enum {string}
             */
            role: "read" | "run" | "write" | "admin";
            /**
             * Format: date-time
             * @description When the user joined the account.
             */
            created_at: string;
            lastSignInAt: string | null;
            /**
             * @deprecated
             * @description The same as lastSignInAt.
             */
            last_sign_in_at: string | null;
        };
        UserChanges: {
            /**
             * @description What the user may do; each role includes those before it.
             * @enum {string}
             */
            role: "read" | "run" | "write" | "admin";
        };
        /**
         * @example {
         *       "key": "TOKEN",
         *       "value": "a",
         *       "locked": false,
         *       "secret": false,
         *       "created_at": "2026-01-31T12:00:00.000Z",
         *       "updated_at": null
         *     }
         */
        Variable: {
            /** @description The name of the variable in templates. */
            key: string;
            /** @description null if it is secret, and if it is locked for roles that may not write. */
            value: string | null;
            /** @description Hides the value from the roles `read` and `run`, from the audit log, and in user interfaces. */
            locked: boolean;
            /** @description Whether the value is encrypted, and never in a response. */
            secret: boolean;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        VariableChanges: {
            /** @description The same as in the path. */
            key?: string;
            /** @description null, as in responses of secret variables, keeps the stored value. */
            value?: string | null;
            /** @description Tells user interfaces not to show the value. Responses contain it unless it is secret. */
            locked?: boolean;
            /** @description Whether the value is stored encrypted and never returned. */
            secret?: boolean;
            readonly created_at?: unknown;
            readonly updated_at?: unknown;
        };
        /**
         * @example {
         *       "key": "TOKEN",
         *       "value": "a"
         *     }
         */
        VariableInput: {
            /** @description The name of the variable in templates. */
            key: string;
            /** @description The value that replaces the template. */
            value: string;
            /** @description Tells user interfaces not to show the value. Responses contain it unless it is secret. */
            locked?: boolean;
            /** @description Whether the value is stored encrypted and never returned. */
            secret?: boolean;
        };
        VariableU: {
            /** @description At most 3000: those that the account lacks first, then by key. */
            uses: {
                key: string;
                /** @description Whether the account has the variable. An agent may have one that the account lacks. */
                isDefined: boolean;
                /** @description How many checks name it and do not define it themselves. */
                checkCount: number;
                /** @description The first of them by name: 10, or with `key` 1000. */
                checks: {
                    id: string;
                    name: string;
                }[];
            }[];
            /** @description How many more there are. */
            droppedKeys: number;
        };
        Warning: {
            /** @enum {string} */
            code: "GROUP_NOT_ACTIVATED" | "LOCATION_WITHOUT_AGENTS" | "PICTURE_NOT_FETCHED" | "PUBLIC_LOCATION_NOT_SERVED";
            message: string;
            /** @description The field, for example `privateLocations[0]`. */
            path?: string;
        };
        WebhookAlertChannel: {
            /** @enum {string} */
            type: "WEBHOOK";
            config: components["schemas"]["WebhookAlertChannelConfig"];
            /**
             * @description Whether the channel is notified of failures.
             * @default true
             */
            sendFailure: boolean;
            /**
             * @description Whether the channel is notified when a failing or degraded check passes again.
             * @default true
             */
            sendRecovery: boolean;
            /**
             * @description Whether the channel is notified of degraded checks.
             * @default false
             */
            sendDegraded: boolean;
            /**
             * @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures.
             * @default null
             */
            sendLocationSilent: boolean | null;
            /**
             * @description Whether the channel is notified of certificates that expire soon.
             * @default false
             */
            sslExpiry: boolean;
            /**
             * @description How many days before a certificate expires the channel is notified, once.
             * @default 30
             */
            sslExpiryThreshold: number;
            /**
             * @description The checks that the channel is notified of.
             * @default []
             */
            subscriptions: {
                /** @description The id of the check. */
                checkId: string;
                /**
                 * @description Whether the channel is notified of the check.
                 * @default true
                 */
                activated: boolean;
            }[];
            /**
             * @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it.
             * @default null
             */
            logicalId: string | null;
            id: number;
            /** Format: date-time */
            created_at: string;
            /** @description null until it was first updated. */
            updated_at: string | null;
        };
        WebhookAlertChannelConfig: {
            /** @description The name of the webhook. */
            name: string;
            /** @description The URL that receives the request. Redirects are not followed. */
            url: string;
            /**
             * @description The HTTP method. GET and HEAD requests have no body.
             * @default POST
             * @enum {string}
             */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD";
            /**
             * @description The body as a Handlebars template with the variables of notices; null sends all variables as a JSON object. The helpers are if, unless, each, eq and json; at most 200 tags.
             * @default null
             */
            template: string | null;
            /**
             * @description The request headers. The content type is application/json unless a header sets it.
             * @default []
             */
            headers: components["schemas"]["WebhookAlertChannelConfigHeader"][];
            /**
             * @description Query parameters, added to the URL.
             * @default []
             */
            queryParameters: components["schemas"]["WebhookAlertChannelConfigHeader"][];
            /** @description Whether notices are signed. */
            hasWebhookSecret: boolean;
        };
        WebhookAlertChannelConfigHeader: {
            key: string;
            /**
             * @description The value, returned empty if it is locked. An update that sends a locked value empty keeps the stored one.
             * @default
             */
            value: string;
            /**
             * @description Whether the value is never returned.
             * @default false
             */
            locked: boolean;
        };
        WebhookAlertChannelHeaderInput: {
            key: string;
            /** @description The value, returned empty if it is locked. An update that sends a locked value empty keeps the stored one. */
            value?: string;
            /** @description Whether the value is never returned. */
            locked?: boolean;
        };
        WebhookAlertChannelInput: {
            /** @enum {string} */
            type: "WEBHOOK";
            config: {
                /** @description The name of the webhook. */
                name: string;
                /** @description The URL that receives the request. Redirects are not followed. */
                url: string;
                /** @description The HTTP method. GET and HEAD requests have no body. */
                method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD";
                /** @description The body as a Handlebars template with the variables of notices; null sends all variables as a JSON object. The helpers are if, unless, each, eq and json; at most 200 tags. */
                template?: string | null;
                /** @description The request headers. The content type is application/json unless a header sets it. */
                headers?: components["schemas"]["WebhookAlertChannelHeaderInput"][];
                /** @description Query parameters, added to the URL. */
                queryParameters?: components["schemas"]["WebhookAlertChannelHeaderInput"][];
                /** @description The key of the signature in x-service-signature; null for no signature. It is never returned; an update that omits it keeps the stored key. */
                webhookSecret?: string | null;
            };
            /** @description Whether the channel is notified of failures. */
            sendFailure?: boolean;
            /** @description Whether the channel is notified when a failing or degraded check passes again. */
            sendRecovery?: boolean;
            /** @description Whether the channel is notified of degraded checks. */
            sendDegraded?: boolean;
            /** @description Whether the channel is notified of private locations that are silent; null: if it is notified of failures. */
            sendLocationSilent?: boolean | null;
            /** @description Whether the channel is notified of certificates that expire soon. */
            sslExpiry?: boolean;
            /** @description How many days before a certificate expires the channel is notified, once. */
            sslExpiryThreshold?: number;
            /** @description The checks that the channel is notified of. */
            subscriptions?: {
                /** @description The id of the check. */
                checkId: string;
                /** @description Whether the channel is notified of the check. */
                activated?: boolean;
            }[];
            /** @description The id in the check file that manages it (`vedette apply`), after the name of the file and `/` if the file has one. Unique among those of its kind; null if no file manages it. */
            logicalId?: string | null;
        };
    };
    responses: {
        /** @description The request is invalid. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["BadRequestError"];
            };
        };
        /** @description The key is missing or not active, or the session has ended. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UnauthorizedError"];
            };
        };
        /** @description The plan of the account does not allow it. */
        PaymentRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PaymentRequiredError"];
            };
        };
        /** @description The role does not allow it, `x-service-account` names another account, or a page of another site sent the request. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ForbiddenError"];
            };
        };
        /** @description The resource does not exist or belongs to another account. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NotFoundError"];
            };
        };
        /** @description The request conflicts with what is stored, or one with its `Idempotency-Key` is in progress. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ConflictError"];
            };
        };
        /** @description The events after the cursor are deleted: read the resources again. */
        Gone: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GoneError"];
            };
        };
        /** @description The resource is not the one that `If-Match` or `If-None-Match` requires. */
        PreconditionFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PreconditionFailedError"];
            };
        };
        /** @description The body is too large. */
        ContentTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ContentTooLargeError"];
            };
        };
        /** @description The body is of the wrong type. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UnsupportedMediaTypeError"];
            };
        };
        /** @description The `Idempotency-Key` was used for another request. */
        IdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IdempotencyKeyReusedError"];
            };
        };
        /** @description Too many requests; `Retry-After` says when to try again. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TooManyRequestsError"];
            };
        };
        /** @description The database or the store is not available; `Retry-After` says when to try again. */
        ServiceUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceUnavailableError"];
            };
        };
    };
    parameters: {
        /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
        ServiceAccount: string;
        /** @description The ETag of a read: refuses the request if the resource has changed since. */
        IfMatch: string;
        /** @description The ETag that the client has: the response is 304 while the resource is the same. */
        IfNoneMatch: string;
        /** @description `*` creates a resource only if its id is free. */
        IfNoneMatchOnWrite: string;
        /** @description The `id` of the last event that the client has: the stream begins after it. Browsers send it when they connect again. */
        LastEventId: string;
        /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
        /** @description The validator of the resource, for `If-Match` and `If-None-Match`. */
        ETag: string;
        /** @description The path of what was created. */
        Location: string;
        /** @description The URLs of the parts `next`, `prev` and `first` of the list (RFC 8288). */
        Link: string;
        /** @description Where the list goes on; with `cursor` only. */
        "X-Next-Cursor": string;
        /** @description The number of entries. */
        "X-Total-Count": number;
        /** @description There may be more entries than X-Total-Count says. */
        "X-Total-Count-At-Least": "true";
        /** @description This is the first response to the Idempotency-Key again. */
        "Idempotent-Replayed": "true";
        /** @description Seconds until a repeated request may succeed. */
        "Retry-After": number;
        /** @description Requests allowed in a minute. */
        "X-RateLimit-Limit": number;
        /** @description Requests left in this minute. */
        "X-RateLimit-Remaining": number;
        /** @description Seconds until the next minute begins. */
        "X-RateLimit-Reset": number;
        /** @description Names the request in the log of the service. */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ready */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Done: Readiness. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Alive */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: State of the service as JSON. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Metrics */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listChecks: {
        parameters: {
            query?: {
                /** @description Only checks of this type; repeated, of any of these types. */
                type?: ("URL" | "API" | "TCP" | "DNS" | "ICMP" | "HEARTBEAT")[];
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List checks of all types, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Check"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckInput"];
            };
        };
        responses: {
            /** @description Done: Create a check of any type. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Check"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Check"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        /** @description The fields to change, as in the route of the check's type. */
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done: Update a check, or create it under a given id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Check"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        /** @description The fields to change, as in the route of the check's type. */
        requestBody: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done: Update a check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Check"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheckFile: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A check file with this check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/yaml": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listUrlChecks: {
        parameters: {
            query?: {
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List URL checks, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlCheck"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createUrlCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UrlCheckInput"];
            };
        };
        responses: {
            /** @description Done: Create a URL check. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getUrlCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a URL check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlCheck"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putUrlCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UrlCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update a URL check, or create it under a given id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteUrlCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateUrlCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UrlCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update a URL check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listApiChecks: {
        parameters: {
            query?: {
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List API checks, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiCheck"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createApiCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiCheckInput"];
            };
        };
        responses: {
            /** @description Done: Create an API check. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getApiCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an API check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiCheck"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putApiCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update an API check, or create it under a given id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteApiCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateApiCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update an API check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listTcpChecks: {
        parameters: {
            query?: {
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List TCP checks, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TcpCheck"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createTcpCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TcpCheckInput"];
            };
        };
        responses: {
            /** @description Done: Create a TCP check. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TcpCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTcpCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a TCP check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TcpCheck"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putTcpCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TcpCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update a TCP check, or create it under a given id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TcpCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteTcpCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateTcpCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TcpCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update a TCP check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TcpCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDnsChecks: {
        parameters: {
            query?: {
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List DNS checks, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DnsCheck"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createDnsCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DnsCheckInput"];
            };
        };
        responses: {
            /** @description Done: Create a DNS check. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DnsCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDnsCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a DNS check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DnsCheck"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putDnsCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DnsCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update a DNS check, or create it under a given id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DnsCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteDnsCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateDnsCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DnsCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update a DNS check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DnsCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listIcmpChecks: {
        parameters: {
            query?: {
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List ICMP checks, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcmpCheck"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createIcmpCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IcmpCheckInput"];
            };
        };
        responses: {
            /** @description Done: Create an ICMP check. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcmpCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getIcmpCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an ICMP check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcmpCheck"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putIcmpCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IcmpCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update an ICMP check, or create it under a given id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcmpCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteIcmpCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateIcmpCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IcmpCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update an ICMP check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcmpCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    bulkChangeChecks: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkChangeChecksInput"];
            };
        };
        responses: {
            /** @description Done: Create, update, delete, mute, pause or run many checks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkChangeChecksResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listHeartbeatChecks: {
        parameters: {
            query?: {
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List heartbeat checks, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatCheck"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createHeartbeatCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeartbeatCheckInput"];
            };
        };
        responses: {
            /** @description Done: Create a heartbeat check. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHeartbeatCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a heartbeat check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatCheck"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putHeartbeatCheck: {
        parameters: {
            query?: {
                /** @description Whether a check that is created here is subscribed to all alert channels. Default: true. */
                autoAssignAlerts?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeartbeatCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update a heartbeat check, or create it under a given id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteHeartbeatCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateHeartbeatCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeartbeatCheckChanges"];
            };
        };
        responses: {
            /** @description Done: Update a heartbeat check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    replacePingToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Replace the ping token of a heartbeat check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatCheck"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listHeartbeatEvents: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive; if omitted, from the oldest on. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive; if omitted, to the newest. */
                to?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the events of a heartbeat check, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatEvent"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHeartbeatEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an event of a heartbeat check, with recent statistics of the check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatEventWithStats"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    pingHeartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `pingToken` of a heartbeat check. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Ping a heartbeat check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PingHeartbeatResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    pingHeartbeatByPost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The `pingToken` of a heartbeat check. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Ping a heartbeat check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PingHeartbeatResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    runCheck: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunCheckInput"] | null;
            };
        };
        responses: {
            /** @description Done: Run a check once, now. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckRun"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheckRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read the outcome of a run. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckRun"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCheckResults: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive. Default: 6 hours ago. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive. Default: 6 hours after from. */
                to?: number;
                /** @description Only results from this location. */
                location?: string;
                /** @description Only results of this type. */
                checkType?: "AGENTIC" | "API" | "BROWSER" | "HEARTBEAT" | "ICMP" | "MULTI_STEP" | "TCP" | "PLAYWRIGHT" | "URL" | "DNS";
                /** @description true: only results of failed runs; false: only of passed runs. */
                hasFailures?: boolean;
                /** @description The last result of each run, those before it, or all. Default: FINAL. */
                resultType?: "FINAL" | "ATTEMPT" | "ALL";
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the results of a check, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckResult"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheckResult: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
                /** @description The id of the result. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read one result of a check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckResult"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive. Default: 6 hours ago. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive. Default: 6 hours after from. */
                to?: number;
                /** @description Only runs that ended in this location. */
                location?: string;
                /** @description Only runs that ended so; repeated, in any of these ways. */
                result?: ("passed" | "degraded" | "failed" | "error" | "cancelled")[];
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the runs of a check with their retries folded, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunSummary"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    explainCheckResult: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
                /** @description The id of the result. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read why a result is as it is, what to try, and which run passed before it. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResultExplanation"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCheckStatuses: {
        parameters: {
            query?: {
                /** @description Only checks of this type; repeated, of any of these types. */
                type?: ("URL" | "API" | "TCP" | "DNS" | "ICMP" | "HEARTBEAT")[];
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
                /** @description Whether to add `cells`. Default: false. */
                cells?: boolean;
                /** @description state: failing, degraded, unknown, passing, paused, and of one state the latest change first. With - in front: descending. Checks without the value come last. Default: state. */
                sort?: "state" | "name" | "-name" | "since" | "-since" | "lastRunAt" | "-lastRunAt" | "lastResponseTime" | "-lastResponseTime" | "sslDaysRemaining" | "-sslDaysRemaining";
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the current statuses of checks, the most urgent first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckStatus"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheckStatus: {
        parameters: {
            query?: {
                /** @description Whether to add `cells`. Default: false. */
                cells?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description null until a run has ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckStatus"] | null;
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheckStateCounts: {
        parameters: {
            query?: {
                /** @description Only checks of this type; repeated, of any of these types. */
                type?: ("URL" | "API" | "TCP" | "DNS" | "ICMP" | "HEARTBEAT")[];
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Count the checks in each state. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckStateCounts"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheckStateBreakdown: {
        parameters: {
            query: {
                /** @description By what the checks are parted. */
                by: "tag" | "group" | "location";
                /** @description Only checks of this type; repeated, of any of these types. */
                type?: ("URL" | "API" | "TCP" | "DNS" | "ICMP" | "HEARTBEAT")[];
                /** @description Only checks with this tag; given several times, with any of them. */
                tag?: string[];
                /** @description Only checks in this state; given several times, in any of them. */
                state?: ("failing" | "degraded" | "unknown" | "passing" | "paused")[];
                /** @description Only checks with this in their name. */
                search?: string;
                /** @description true: only checks that are activated; false: only others. Groups do not count. */
                activated?: boolean;
                /** @description Only checks of this group. */
                groupId?: number;
                /** @description Only checks that run in this location, public or private. */
                location?: string;
                /** @description true: only checks that are unknown because no agent of their locations polls (unknownReason location_silent); false: only others. */
                silent?: boolean;
                /** @description Only checks without a group, a tag or a location; given several times, without all of these. */
                without?: ("group" | "tag" | "location")[];
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Count the checks in each state by tag, group or location. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckStateBreakdown"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCheckAlerts: {
        parameters: {
            query?: {
                /** @description Only alerts of this check. */
                checkId?: string;
                /** @description Only alerts of this type; given several times, of any of them. */
                alertType?: ("NO_ALERT" | "ALERT_FAILURE" | "ALERT_FAILURE_REMAIN" | "ALERT_FAILURE_DEGRADED" | "ALERT_RECOVERY" | "ALERT_DEGRADED" | "ALERT_DEGRADED_REMAIN" | "ALERT_DEGRADED_FAILURE" | "ALERT_DEGRADED_RECOVERY" | "ALERT_SSL")[];
                /** @description true: only open alerts, by default of any time; false: only others. An alert is open while it is the latest of a check that has not recovered. */
                open?: boolean;
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive. Default: 6 hours ago. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive. Default: 6 hours after from. */
                to?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the alerts of all checks, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckAlert"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheckAlert: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an alert of a check. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckAlert"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAlertRecipients: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read who would be notified of a check, and why. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRecipients"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAlertSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the account of the key. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read the alert settings of the account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertSettings"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putAlertSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the account of the key. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertSettingsChanges"];
            };
        };
        responses: {
            /** @description Done: Change the alert settings of the account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertSettings"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateAlertSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the account of the key. */
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertSettingsChanges"];
            };
        };
        responses: {
            /** @description Done: Change the alert settings of the account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertSettings"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAlertChannels: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List alert channels, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createAlertChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertChannelInput"];
            };
        };
        responses: {
            /** @description Done: Create an alert channel. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAlertChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the channel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an alert channel. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putAlertChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the channel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertChannelChanges"];
            };
        };
        responses: {
            /** @description Done: Update an alert channel. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteAlertChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the channel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateAlertChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the channel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertChannelChanges"];
            };
        };
        responses: {
            /** @description Done: Update an alert channel. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    compareAlertChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the channel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertChannelComparisonInput"];
            };
        };
        responses: {
            /** @description Done: Compare a configuration with that of an alert channel, secrets included. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompareAlertChannelResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    testAlertChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the channel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Send a test notice once and return the outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestAlertChannelResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAlertDeliveries: {
        parameters: {
            query?: {
                /** @description Only deliveries in this state; given several times, in any of them. */
                state?: ("waiting" | "sending" | "sent" | "failed")[];
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the channel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the sent and pending deliveries of an alert channel, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDelivery"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resendAlertDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the channel. */
                id: number;
                /** @description The id of the delivery. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Send a delivery again that was sent or has failed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDelivery"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listDeliveriesOfCheckAlert: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the alert. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the deliveries of an alert and of its reminders, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDelivery"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listMissedSlots: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive. Default: 6 hours ago. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive. Default: 6 hours after from. */
                to?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the missed slots of a check, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MissedSlot"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The `id` of the last event that the client has: the stream begins after it. Browsers send it when they connect again. */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Follow the changes of the account as server-sent events, or list them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"][];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listErrorGroups: {
        parameters: {
            query: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description The check that failed. */
                checkId: string;
                /** @description true: only archived groups; false: only the others. */
                archived?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the error groups of a check, most recently seen first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorGroup"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getErrorGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description One of errorGroupIds of a result. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an error group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorGroup"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateErrorGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description One of errorGroupIds of a result. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ErrorGroupChanges"];
            };
        };
        responses: {
            /** @description Done: Archive or unarchive an error group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorGroup"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listRootCauseAnalyses: {
        parameters: {
            query?: {
                /** @description Only those of this check. */
                checkId?: string;
                /** @description Only those of this error group. */
                errorGroupId?: string;
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List completed root cause analyses, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RootCauseAnalysis"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createRootCauseAnalysis: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RootCauseAnalysisInput"];
            };
        };
        responses: {
            /** @description Done: Ask why a check fails. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingRootCauseAnalysis"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getRootCauseAnalysis: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a root cause analysis. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RootCauseAnalysis"];
                };
            };
            /** @description Done: Read a root cause analysis. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingRootCauseAnalysis"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listTestSessions: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description What is tested: a slug of your choice. Errors are grouped per project. */
                projectId?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List test sessions, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSession"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createTestSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestSessionInput"];
            };
        };
        responses: {
            /** @description Done: Create a test session, or add results to one. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSession"];
                };
            };
            /** @description Done: Create a test session, or add results to one. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTestSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a test session. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSession"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteTestSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listTestSessionResults: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description The last result of each run, those before it, or all; if omitted, FINAL. */
                resultType?: "FINAL" | "ATTEMPT" | "ALL";
                /** @description true: only results of failed runs; false: only of others. */
                hasFailures?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the results of a test session in the order in which the runs began. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckResult"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listTestSessionErrorGroups: {
        parameters: {
            query?: {
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description How many at most, 1 to 100; if omitted, 100. */
                limit?: number;
                /** @description true: only archived groups; false: only the others. */
                archived?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description What is tested: a slug of your choice. Errors are grouped per project. */
                projectId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the error groups of a project, most recently seen first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSessionErrorGroup"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTestSessionErrorGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description One of errorGroupIds of a test session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an error group of test sessions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSessionErrorGroup"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateTestSessionErrorGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description One of errorGroupIds of a test session. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ErrorGroupChanges"];
            };
        };
        responses: {
            /** @description Done: Archive or unarchive an error group of test sessions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestSessionErrorGroup"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getApiAnalytics: {
        parameters: {
            query: {
                /** @description Names of metrics, separated by commas or repeated. Plain names alone give a point for each run; with a suffixed one among them, or only availability and retries, there is one point for the whole window, and with aggregationInterval one for each interval. */
                metrics: ("responseTime" | "wait" | "dns" | "tcp" | "firstByte" | "download" | "availability" | "retries" | "responseTime_avg" | "responseTime_max" | "responseTime_median" | "responseTime_min" | "responseTime_p50" | "responseTime_p90" | "responseTime_p95" | "responseTime_p99" | "responseTime_stddev" | "responseTime_sum" | "wait_avg" | "wait_max" | "wait_median" | "wait_min" | "wait_p50" | "wait_p90" | "wait_p95" | "wait_p99" | "wait_stddev" | "wait_sum" | "dns_avg" | "dns_max" | "dns_median" | "dns_min" | "dns_p50" | "dns_p90" | "dns_p95" | "dns_p99" | "dns_stddev" | "dns_sum" | "tcp_avg" | "tcp_max" | "tcp_median" | "tcp_min" | "tcp_p50" | "tcp_p90" | "tcp_p95" | "tcp_p99" | "tcp_stddev" | "tcp_sum" | "firstByte_avg" | "firstByte_max" | "firstByte_median" | "firstByte_min" | "firstByte_p50" | "firstByte_p90" | "firstByte_p95" | "firstByte_p99" | "firstByte_stddev" | "firstByte_sum" | "download_avg" | "download_max" | "download_median" | "download_min" | "download_p50" | "download_p90" | "download_p95" | "download_p99" | "download_stddev" | "download_sum")[];
                /** @description The window, in UTC: last24Hours, last7Days and last30Days end now, thisWeek (from Monday on) and thisMonth too; lastWeek and lastMonth are whole. */
                quickRange?: "last24Hours" | "last7Days" | "last30Days" | "thisWeek" | "thisMonth" | "lastWeek" | "lastMonth";
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive, in place of the start of quickRange. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive, in place of the end of quickRange. */
                to?: number;
                /** @description Minutes of each point. Intervals start from a Monday at 00:00 UTC, so 1440 are days and 10080 are weeks; an interval without a run has no point. */
                aggregationInterval?: number;
                /** @description Only runs with this status; degraded counts as success. If omitted, all. */
                filterByStatus?: ("success" | "failure")[];
                /** @description One series for each of these. If omitted, one series of all runs. */
                groupBy?: "runLocation" | "statusCode";
                /** @description The most series, 1 to 100; if omitted, 10. */
                limit?: number;
                /** @description The page of series, from 1; if omitted, the first. */
                page?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Report how an API check did over time. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsReport"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getUrlAnalytics: {
        parameters: {
            query: {
                /** @description Names of metrics, separated by commas or repeated. Plain names alone give a point for each run; with a suffixed one among them, or only availability and retries, there is one point for the whole window, and with aggregationInterval one for each interval. */
                metrics: ("responseTime" | "wait" | "dns" | "tcp" | "firstByte" | "download" | "availability" | "retries" | "responseTime_avg" | "responseTime_max" | "responseTime_median" | "responseTime_min" | "responseTime_p50" | "responseTime_p90" | "responseTime_p95" | "responseTime_p99" | "responseTime_stddev" | "responseTime_sum" | "wait_avg" | "wait_max" | "wait_median" | "wait_min" | "wait_p50" | "wait_p90" | "wait_p95" | "wait_p99" | "wait_stddev" | "wait_sum" | "dns_avg" | "dns_max" | "dns_median" | "dns_min" | "dns_p50" | "dns_p90" | "dns_p95" | "dns_p99" | "dns_stddev" | "dns_sum" | "tcp_avg" | "tcp_max" | "tcp_median" | "tcp_min" | "tcp_p50" | "tcp_p90" | "tcp_p95" | "tcp_p99" | "tcp_stddev" | "tcp_sum" | "firstByte_avg" | "firstByte_max" | "firstByte_median" | "firstByte_min" | "firstByte_p50" | "firstByte_p90" | "firstByte_p95" | "firstByte_p99" | "firstByte_stddev" | "firstByte_sum" | "download_avg" | "download_max" | "download_median" | "download_min" | "download_p50" | "download_p90" | "download_p95" | "download_p99" | "download_stddev" | "download_sum")[];
                /** @description The window, in UTC: last24Hours, last7Days and last30Days end now, thisWeek (from Monday on) and thisMonth too; lastWeek and lastMonth are whole. */
                quickRange?: "last24Hours" | "last7Days" | "last30Days" | "thisWeek" | "thisMonth" | "lastWeek" | "lastMonth";
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive, in place of the start of quickRange. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive, in place of the end of quickRange. */
                to?: number;
                /** @description Minutes of each point. Intervals start from a Monday at 00:00 UTC, so 1440 are days and 10080 are weeks; an interval without a run has no point. */
                aggregationInterval?: number;
                /** @description Only runs with this status; degraded counts as success. If omitted, all. */
                filterByStatus?: ("success" | "failure")[];
                /** @description One series for each of these. If omitted, one series of all runs. */
                groupBy?: "runLocation" | "statusCode";
                /** @description The most series, 1 to 100; if omitted, 10. */
                limit?: number;
                /** @description The page of series, from 1; if omitted, the first. */
                page?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Report how a URL check did over time. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsReport"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTcpAnalytics: {
        parameters: {
            query: {
                /** @description Names of metrics, separated by commas or repeated. Plain names alone give a point for each run; with a suffixed one among them, or only availability and retries, there is one point for the whole window, and with aggregationInterval one for each interval. */
                metrics: ("responseTime" | "dns" | "connection" | "data" | "availability" | "retries" | "responseTime_avg" | "responseTime_max" | "responseTime_median" | "responseTime_min" | "responseTime_p50" | "responseTime_p90" | "responseTime_p95" | "responseTime_p99" | "responseTime_stddev" | "responseTime_sum" | "dns_avg" | "dns_max" | "dns_median" | "dns_min" | "dns_p50" | "dns_p90" | "dns_p95" | "dns_p99" | "dns_stddev" | "dns_sum" | "connection_avg" | "connection_max" | "connection_median" | "connection_min" | "connection_p50" | "connection_p90" | "connection_p95" | "connection_p99" | "connection_stddev" | "connection_sum" | "data_avg" | "data_max" | "data_median" | "data_min" | "data_p50" | "data_p90" | "data_p95" | "data_p99" | "data_stddev" | "data_sum")[];
                /** @description The window, in UTC: last24Hours, last7Days and last30Days end now, thisWeek (from Monday on) and thisMonth too; lastWeek and lastMonth are whole. */
                quickRange?: "last24Hours" | "last7Days" | "last30Days" | "thisWeek" | "thisMonth" | "lastWeek" | "lastMonth";
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive, in place of the start of quickRange. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive, in place of the end of quickRange. */
                to?: number;
                /** @description Minutes of each point. Intervals start from a Monday at 00:00 UTC, so 1440 are days and 10080 are weeks; an interval without a run has no point. */
                aggregationInterval?: number;
                /** @description Only runs with this status; degraded counts as success. If omitted, all. */
                filterByStatus?: ("success" | "failure")[];
                /** @description One series for each of these. If omitted, one series of all runs. */
                groupBy?: "runLocation";
                /** @description The most series, 1 to 100; if omitted, 10. */
                limit?: number;
                /** @description The page of series, from 1; if omitted, the first. */
                page?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Report how a TCP check did over time. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsReport"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDnsAnalytics: {
        parameters: {
            query: {
                /** @description Names of metrics, separated by commas or repeated. Plain names alone give a point for each run; with a suffixed one among them, or only availability and retries, there is one point for the whole window, and with aggregationInterval one for each interval. */
                metrics: ("responseTime" | "availability" | "retries" | "responseTime_avg" | "responseTime_max" | "responseTime_median" | "responseTime_min" | "responseTime_p50" | "responseTime_p90" | "responseTime_p95" | "responseTime_p99" | "responseTime_stddev" | "responseTime_sum")[];
                /** @description The window, in UTC: last24Hours, last7Days and last30Days end now, thisWeek (from Monday on) and thisMonth too; lastWeek and lastMonth are whole. */
                quickRange?: "last24Hours" | "last7Days" | "last30Days" | "thisWeek" | "thisMonth" | "lastWeek" | "lastMonth";
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive, in place of the start of quickRange. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive, in place of the end of quickRange. */
                to?: number;
                /** @description Minutes of each point. Intervals start from a Monday at 00:00 UTC, so 1440 are days and 10080 are weeks; an interval without a run has no point. */
                aggregationInterval?: number;
                /** @description Only runs with this status; degraded counts as success. If omitted, all. */
                filterByStatus?: ("success" | "failure")[];
                /** @description One series for each of these. If omitted, one series of all runs. */
                groupBy?: "runLocation";
                /** @description The most series, 1 to 100; if omitted, 10. */
                limit?: number;
                /** @description The page of series, from 1; if omitted, the first. */
                page?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Report how a DNS check did over time. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsReport"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getIcmpAnalytics: {
        parameters: {
            query: {
                /** @description Names of metrics, separated by commas or repeated. Plain names alone give a point for each run; with a suffixed one among them, or only availability and retries, there is one point for the whole window, and with aggregationInterval one for each interval. */
                metrics: ("packetLoss" | "latencyMin" | "latencyMax" | "latencyAvg" | "latencyStdDev" | "availability" | "retries" | "packetLoss_avg" | "packetLoss_max" | "packetLoss_median" | "packetLoss_min" | "packetLoss_p50" | "packetLoss_p90" | "packetLoss_p95" | "packetLoss_p99" | "packetLoss_stddev" | "packetLoss_sum" | "latencyMin_avg" | "latencyMin_max" | "latencyMin_median" | "latencyMin_min" | "latencyMin_p50" | "latencyMin_p90" | "latencyMin_p95" | "latencyMin_p99" | "latencyMin_stddev" | "latencyMin_sum" | "latencyMax_avg" | "latencyMax_max" | "latencyMax_median" | "latencyMax_min" | "latencyMax_p50" | "latencyMax_p90" | "latencyMax_p95" | "latencyMax_p99" | "latencyMax_stddev" | "latencyMax_sum" | "latencyAvg_avg" | "latencyAvg_max" | "latencyAvg_median" | "latencyAvg_min" | "latencyAvg_p50" | "latencyAvg_p90" | "latencyAvg_p95" | "latencyAvg_p99" | "latencyAvg_stddev" | "latencyAvg_sum" | "latencyStdDev_avg" | "latencyStdDev_max" | "latencyStdDev_median" | "latencyStdDev_min" | "latencyStdDev_p50" | "latencyStdDev_p90" | "latencyStdDev_p95" | "latencyStdDev_p99" | "latencyStdDev_stddev" | "latencyStdDev_sum")[];
                /** @description The window, in UTC: last24Hours, last7Days and last30Days end now, thisWeek (from Monday on) and thisMonth too; lastWeek and lastMonth are whole. */
                quickRange?: "last24Hours" | "last7Days" | "last30Days" | "thisWeek" | "thisMonth" | "lastWeek" | "lastMonth";
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive, in place of the start of quickRange. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive, in place of the end of quickRange. */
                to?: number;
                /** @description Minutes of each point. Intervals start from a Monday at 00:00 UTC, so 1440 are days and 10080 are weeks; an interval without a run has no point. */
                aggregationInterval?: number;
                /** @description Only runs with this status; degraded counts as success. If omitted, all. */
                filterByStatus?: ("success" | "failure")[];
                /** @description One series for each of these. If omitted, one series of all runs. */
                groupBy?: "runLocation";
                /** @description The most series, 1 to 100; if omitted, 10. */
                limit?: number;
                /** @description The page of series, from 1; if omitted, the first. */
                page?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Report how an ICMP check did over time. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsReport"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAvailability: {
        parameters: {
            query?: {
                /** @description How many days, with the current one; if omitted, 90. */
                days?: number;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the check: a UUID, or a slug chosen at creation. */
                checkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read the availability of a check by day and by quarter hour. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Availability"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listArtifacts: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                checkId: string;
                resultId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the artifacts of a check result, by name. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Artifact"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    downloadArtifact: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole file. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description The requested range. */
            206: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCheckGroups: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List groups, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckGroup"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createCheckGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckGroupInput"];
            };
        };
        responses: {
            /** @description Done: Create a group. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckGroup"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getCheckGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the group. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckGroup"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putCheckGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the group. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckGroupChanges"];
            };
        };
        responses: {
            /** @description Done: Update a group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckGroup"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteCheckGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the group. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateCheckGroup: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the group. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckGroupChanges"];
            };
        };
        responses: {
            /** @description Done: Update a group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckGroup"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listMaintenanceWindows: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description Only windows whose startsAt is after this time; a day stands for its start in UTC. At most one filter on startsAt. */
                "startsAt[gt]"?: string;
                /** @description Only windows whose startsAt is at or after this time; a day stands for its start in UTC. At most one filter on startsAt. */
                "startsAt[gte]"?: string;
                /** @description Only windows whose startsAt is before this time; a day stands for its start in UTC. At most one filter on startsAt. */
                "startsAt[lt]"?: string;
                /** @description Only windows whose startsAt is at or before this time; a day stands for its start in UTC. At most one filter on startsAt. */
                "startsAt[lte]"?: string;
                /** @description Only windows whose endsAt is after this time; a day stands for its start in UTC. At most one filter on endsAt. */
                "endsAt[gt]"?: string;
                /** @description Only windows whose endsAt is at or after this time; a day stands for its start in UTC. At most one filter on endsAt. */
                "endsAt[gte]"?: string;
                /** @description Only windows whose endsAt is before this time; a day stands for its start in UTC. At most one filter on endsAt. */
                "endsAt[lt]"?: string;
                /** @description Only windows whose endsAt is at or before this time; a day stands for its start in UTC. At most one filter on endsAt. */
                "endsAt[lte]"?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List maintenance windows, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MaintenanceWindow"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createMaintenanceWindow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MaintenanceWindowInput"];
            };
        };
        responses: {
            /** @description Done: Create a maintenance window. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MaintenanceWindow"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getMaintenanceWindow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the window. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a maintenance window. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MaintenanceWindow"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putMaintenanceWindow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the window. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MaintenanceWindowChanges"];
            };
        };
        responses: {
            /** @description Done: Update a maintenance window. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MaintenanceWindow"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteMaintenanceWindow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the window. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateMaintenanceWindow: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the window. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MaintenanceWindowChanges"];
            };
        };
        responses: {
            /** @description Done: Update a maintenance window. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MaintenanceWindow"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listPrivateLocations: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List private locations, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivateLocation"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createPrivateLocation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PrivateLocationInput"];
            };
        };
        responses: {
            /** @description Done: Create a private location. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivateLocation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPrivateLocation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a private location. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivateLocation"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putPrivateLocation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PrivateLocationChanges"];
            };
        };
        responses: {
            /** @description Done: Update a private location. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivateLocation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deletePrivateLocation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updatePrivateLocation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PrivateLocationChanges"];
            };
        };
        responses: {
            /** @description Done: Update a private location. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivateLocation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listLocationKeys: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the keys of a location, oldest first, including revoked keys. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LocationKey"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createLocationKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Create a key for the agents of a location; at most two are active. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewLocationKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteLocationKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
                /** @description The id of the resource. */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listPrivateLocationStatuses: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List how the agents of each private location are, oldest location first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivateLocationStatus"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPrivateLocationStatus: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read how the agents of a private location are. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PrivateLocationStatus"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listLocationAgents: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the agents of a private location, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LocationAgent"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteLocationAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
                /** @description The id of the agent. */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    allowLocationAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
                /** @description The id of the agent. */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listLocationAgentErrors: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the errors of a location's agents, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LocationAgentError"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listStaticIpv6s: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One address or network on each line; empty if none is set. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listVariables: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List variables by their keys. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createVariable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VariableInput"];
            };
        };
        responses: {
            /** @description Done: Create a variable. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getVariable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The name of the variable in templates. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a variable. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putVariable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The name of the variable in templates. */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VariableChanges"];
            };
        };
        responses: {
            /** @description Done: Update a variable. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteVariable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The name of the variable in templates. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateVariable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The name of the variable in templates. */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VariableChanges"];
            };
        };
        responses: {
            /** @description Done: Update a variable. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variable"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listVariableUses: {
        parameters: {
            query?: {
                /** @description Only this variable. */
                key?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List which checks use which variables. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VariableU"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listClientCertificates: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List client certificates, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientCertificate"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createClientCertificate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClientCertificateInput"];
            };
        };
        responses: {
            /** @description Done: Add a client certificate. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientCertificate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getClientCertificate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a client certificate. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientCertificate"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putClientCertificate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClientCertificateChanges"];
            };
        };
        responses: {
            /** @description Done: Update a client certificate. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientCertificate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteClientCertificate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateClientCertificate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClientCertificateChanges"];
            };
        };
        responses: {
            /** @description Done: Update a client certificate. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientCertificate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listCertificates: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the certificates that checks saw, those that expire first first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Certificate2"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listClientCertificateUses: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List when client certificates expire and which checks use them, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientCertificateU"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSnippets: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List snippets, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snippet"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createSnippet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SnippetInput"];
            };
        };
        responses: {
            /** @description Done: Create a snippet. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snippet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSnippet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the snippet. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a snippet. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snippet"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putSnippet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the snippet. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SnippetChanges"];
            };
        };
        responses: {
            /** @description Done: Update a snippet. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snippet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSnippet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the snippet. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateSnippet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the snippet. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SnippetChanges"];
            };
        };
        responses: {
            /** @description Done: Update a snippet. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snippet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAccounts: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the account of the key. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getEntitlements: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read the plan of the account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entitlements"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listStatusPages: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List status pages, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPage"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createStatusPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageInput"];
            };
        };
        responses: {
            /** @description Done: Create a status page with its cards. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStatusPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a status page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPage"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putStatusPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageChanges"];
            };
        };
        responses: {
            /** @description Done: Update a status page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteStatusPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateStatusPage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageChanges"];
            };
        };
        responses: {
            /** @description Done: Update a status page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    fetchStatusPagePictures: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Fetch the logo and the icon of a status page again. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStatusPageSummary: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read the status of the services of a status page, and its open incidents. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageSummary"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    checkStatusPageDomain: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Check that the custom domain of a status page leads to it. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckStatusPageDomainResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listStatusPageServices: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List services, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageService"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createStatusPageService: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageServiceInput"];
            };
        };
        responses: {
            /** @description Done: Create a service. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageService"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStatusPageService: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                serviceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a service. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageService"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putStatusPageService: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                serviceId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageServiceChanges"];
            };
        };
        responses: {
            /** @description Done: Update a service. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageService"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteStatusPageService: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                serviceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateStatusPageService: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                serviceId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageServiceChanges"];
            };
        };
        responses: {
            /** @description Done: Update a service. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageService"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listStatusPageSubscribers: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the subscribers of a status page, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageSubscriber"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteStatusPageSubscriber: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                statusPageId: string;
                /** @description The id of the resource. */
                subscriberId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listStatusPageIncidents: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description open: only those that are not resolved, drafts included. Default: all. */
                state?: "open" | "resolved";
                /** @description -created_at: the newest first. Default: created_at. */
                sort?: "created_at" | "-created_at";
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List incidents, oldest first, each with its first update. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageIncident"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createStatusPageIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageIncidentInput"];
            };
        };
        responses: {
            /** @description Done: Create an incident with its first update. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageIncident"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStatusPageIncident: {
        parameters: {
            query?: {
                /** @description Whether the response has all updates, or only the first. */
                includeAllIncidentUpdates?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageIncident"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putStatusPageIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageIncidentChanges"];
            };
        };
        responses: {
            /** @description Done: Update an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageIncident"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteStatusPageIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateStatusPageIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageIncidentChanges"];
            };
        };
        responses: {
            /** @description Done: Update an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageIncident"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createStatusPageIncidentUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageIncidentUpdateInput"];
            };
        };
        responses: {
            /** @description Done: Add an update to an incident; its status becomes that of the incident. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageIncidentUpdate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putStatusPageIncidentUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
                /** @description The id of the resource. */
                updateId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageIncidentUpdateChanges"];
            };
        };
        responses: {
            /** @description Done: Change an update of an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageIncidentUpdate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteStatusPageIncidentUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
                /** @description The id of the resource. */
                updateId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateStatusPageIncidentUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
                /** @description The id of the resource. */
                updateId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StatusPageIncidentUpdateChanges"];
            };
        };
        responses: {
            /** @description Done: Change an update of an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatusPageIncidentUpdate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listIncidents: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List incidents, oldest first, each with its first update. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Incident"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentInput"];
            };
        };
        responses: {
            /** @description Done: Create an incident. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Incident"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getIncident: {
        parameters: {
            query?: {
                /** @description Whether the response has all updates, or only the first. */
                includeAllIncidentUpdates?: boolean;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Incident"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentChanges"];
            };
        };
        responses: {
            /** @description Done: Update an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Incident"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateIncident: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentChanges"];
            };
        };
        responses: {
            /** @description Done: Update an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Incident"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createIncidentUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentUpdateInput"];
            };
        };
        responses: {
            /** @description Done: Add an update to an incident. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentUpdate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putIncidentUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
                /** @description The id of the resource. */
                updateId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentUpdateChanges"];
            };
        };
        responses: {
            /** @description Done: Change an update of an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentUpdate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteIncidentUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
                /** @description The id of the resource. */
                updateId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateIncidentUpdate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                incidentId: string;
                /** @description The id of the resource. */
                updateId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentUpdateChanges"];
            };
        };
        responses: {
            /** @description Done: Change an update of an incident. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentUpdate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List API keys, oldest first, including revoked keys. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyInput"];
            };
        };
        responses: {
            /** @description Done: Create an API key. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read an API key. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the users of the account, in the order in which they joined. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag that the client has: the response is 304 while the resource is the same. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read a user of the account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description Not modified; no body. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*` creates a resource only if its id is free. */
                "If-None-Match"?: components["parameters"]["IfNoneMatchOnWrite"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChanges"];
            };
        };
        responses: {
            /** @description Done: Change the role of a user; the last admin stays one. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    updateUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description The ETag of a read: refuses the request if the resource has changed since. */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChanges"];
            };
        };
        responses: {
            /** @description Done: Change the role of a user; the last admin stays one. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List open invitations, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
                /** @description A new UUID for each request: a repeated request with the same key is not done twice. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationInput"];
            };
        };
        responses: {
            /** @description Done: Invite a user to the account by a link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewInvitation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptInvitationInput"];
            };
        };
        responses: {
            /** @description Signed in; the cookie of the session is set. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                /** @description How many at most, 1 to 100. Default: 10. */
                limit?: number;
                /** @description Which page, counted from 1. Default: 1. */
                page?: number;
                /** @description Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Loses and repeats nothing while entries are added and removed. */
                cursor?: string;
                /** @description UNIX timestamp in seconds (or milliseconds), inclusive. Default: no limit. */
                from?: number;
                /** @description UNIX timestamp in seconds (or milliseconds), exclusive. Default: no limit. */
                to?: number;
                /** @description The id of a user or key, or its name at the time. */
                actor?: string;
                /** @description The kind of the resource. */
                kind?: "check" | "check-group" | "alert-channel" | "alert-settings" | "maintenance-window" | "private-location" | "location-key" | "agent" | "variable" | "client-certificate" | "snippet" | "status-page" | "status-page-service" | "status-page-subscriber" | "status-page-incident" | "incident" | "error-group" | "test-session-error-group" | "test-session" | "api-key" | "user" | "invitation";
                /** @description The id of the resource. */
                resourceId?: string;
                action?: "create" | "update" | "delete" | "revoke" | "rotate" | "end" | "allow" | "setup" | "join" | "sign-in" | "sign-in-failed" | "sign-out" | "sign-out-everywhere" | "password-change" | "password-link";
            };
            header?: {
                /** @description The id of the account to work on. Needed by users of several accounts, who otherwise work on the first that they joined. A key has one account, and may repeat its id. */
                "x-service-account"?: components["parameters"]["ServiceAccount"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List who changed what in the account, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link"];
                    "X-Next-Cursor": components["headers"]["X-Next-Cursor"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Total-Count-At-Least": components["headers"]["X-Total-Count-At-Least"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntry"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: Read who is signed in, and the accounts of the user. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CurrentSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInInput"];
            };
        };
        responses: {
            /** @description Signed in; the cookie of the session is set. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done: List the own sessions, the most recent sign-in first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    signOutEverywhere: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the resource. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePasswordInput"];
            };
        };
        responses: {
            /** @description Signed in; the cookie of the session is set. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["ServiceUnavailable"];
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
