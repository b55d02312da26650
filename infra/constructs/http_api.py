"""The HTTP API: one function behind it, and a caller who is known on every route but two that hold no data."""

from __future__ import annotations

import json

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.acknowledgements import acknowledge
from infra.config import Authorization, Configuration
from infra.constructs.alarms import Alarms
from infra.constructs.bedrock import allow_models
from infra.constructs.database import DatabaseAccess
from infra.constructs.function import Function
from infra.constructs.layers import Layers
from infra.constructs.provider_keys import ProviderKeys
from infra.constructs.retention import retention

HEALTH = "/health"
PAGE = "/brain/dashboard"
EMBEDDING = {
    "/brain/beliefs": apigateway.HttpMethod.GET,
    "/brain/conversations": apigateway.HttpMethod.POST,
    "/brain/recall": apigateway.HttpMethod.GET,
}
"""The routes whose requests may each cost a call of an embedder."""

_EMBEDDING_SHARE = 5  # of the requests, every fifth may be such a one
_TIMEOUT = Duration.seconds(29)  # API Gateway gives up after 30
_MEMORY_MB = 512
_LOGGED = {
    "requestId": "$context.requestId",
    "routeKey": "$context.routeKey",
    "status": "$context.status",
    "latency": "$context.responseLatency",
    "integrationError": "$context.integrationErrorMessage",
    "sourceIp": "$context.identity.sourceIp",
    "time": "$context.requestTime",
}


class HttpApi(Construct):
    """The API and its function. Paths are no part of the access log: they may name people."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        configuration: Configuration,
        layers: Layers,
        database: DatabaseAccess,
        keys: ProviderKeys | None,
        alarms: Alarms,
    ) -> None:
        """Make the function, the API, its routes and its alarms."""
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "Function",
            folder="api",
            login="dreaming_api",
            configuration=configuration,
            layers=layers,
            database=database,
            alarms=alarms,
            memory_mb=_MEMORY_MB,
            timeout=_TIMEOUT,
            environment=keys.environment if keys else {},
            statements=keys.statements() if keys else [],
        )
        # Queries are embedded here; nothing is chatted about.
        allow_models(self.function.role, configuration.bedrock_embedders)
        self.api = apigateway.HttpApi(
            self,
            "Api",
            api_name=configuration.name,
            description="Dreaming",
            create_default_stage=False,
            default_authorizer=_authorizer(configuration),
        )
        self._add_routes()
        self._add_stage(configuration)
        alarms.raise_when(
            "api-server-errors",
            self.api.metric_server_error(period=Duration.minutes(5), statistic=cloudwatch.Stats.SUM),
            at_least=5,
            says="The API answered with 5xx five times in five minutes.",
        )

    def _add_routes(self) -> None:
        integration = integrations.HttpLambdaIntegration("Integration", self.function.function)
        # Everything is authorized unless it is named here, so a new route cannot be forgotten.
        self.api.add_routes(path="/{proxy+}", methods=[apigateway.HttpMethod.ANY], integration=integration)
        # Authorized like everything else; named so that the stage can throttle them.
        for path, method in EMBEDDING.items():
            self.api.add_routes(path=path, methods=[method], integration=integration)
        acknowledge(
            self._open(HEALTH, integration),
            "AwsSolutions-APIG4",
            "The health check says only that the service runs, to monitors without a login, and asks no database.",
        )
        acknowledge(
            self._open(PAGE, integration),
            "AwsSolutions-APIG4",
            "The page holds nothing of anybody and asks no database; it signs in by itself, then calls other routes.",
        )

    def _open(self, path: str, integration: integrations.HttpLambdaIntegration) -> apigateway.HttpRoute:
        """Add a route for callers whom nobody knows."""
        (route,) = self.api.add_routes(
            path=path,
            methods=[apigateway.HttpMethod.GET],
            integration=integration,
            authorizer=apigateway.HttpNoneAuthorizer(),
        )
        return route

    def _add_stage(self, configuration: Configuration) -> None:
        log_group = logs.LogGroup(
            self,
            "AccessLog",
            log_group_name=f"/{configuration.name}/api-access",
            retention=retention(configuration.log_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        stage = apigateway.CfnStage(
            self,
            "Stage",
            api_id=self.api.api_id,
            stage_name="$default",
            auto_deploy=True,
            access_log_settings=apigateway.CfnStage.AccessLogSettingsProperty(
                destination_arn=log_group.log_group_arn, format=json.dumps(_LOGGED)
            ),
            default_route_settings=apigateway.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=configuration.requests_per_second,
                throttling_burst_limit=2 * configuration.requests_per_second,
            ),
            route_settings={
                f"{method.value} {path}": _embedding_throttle(configuration) for path, method in EMBEDDING.items()
            },
        )
        # Settings of a route are refused before there is the route.
        stage.node.add_dependency(self.api)
        stage.node.add_dependency(log_group)

    @property
    def url(self) -> str:
        """The address of the API, without a slash at its end."""
        return f"https://{self.api.api_id}.execute-api.{Stack.of(self).region}.{Stack.of(self).url_suffix}"


def _embedding_throttle(configuration: Configuration) -> dict[str, int]:
    rate = max(1, configuration.requests_per_second // _EMBEDDING_SHARE)
    return {"ThrottlingRateLimit": rate, "ThrottlingBurstLimit": 2 * rate}


def _authorizer(configuration: Configuration) -> apigateway.IHttpRouteAuthorizer:
    if configuration.authorization is Authorization.IAM:
        return authorizers.HttpIamAuthorizer()
    return authorizers.HttpJwtAuthorizer(
        "Tokens", str(configuration.jwt_issuer), jwt_audience=list(configuration.jwt_audience)
    )
