### 报告页面、图表和仪表板的中文文本。英文文本在 ../en/page.ftl，标识符和参数相同。

## 页面

no-scripts = 脚本已禁用：图表不能缩放，也没有各次试验的表格。
skip-link = 跳到诊断结果
navigation = 页面章节
theme-switch = 浅色 / 深色
heading-trials = { $count } 次试验
heading-trials-of-planned = 已完成 { $count } 次试验，计划 { $planned } 次
heading-id = 编号 { $id }
yes = 是
no = 否
list-separator = 、
clause-separator = ；
contender-label = { $contender }：

## 章节标题

section-answer = 容量
section-findings = 诊断结果
section-comparison = 比较
section-limits = 极限
section-by-load = 随负载变化
section-by-repetition = 按重复次数
section-response-time = 响应时间
section-over-time = 随时间变化
section-curve = 各负载下的结果
section-trials = 试验
section-evidence = 依据
section-plan = 计划
section-environment = 环境
section-method = 方法
section-licenses = 许可证
section-information = 测试与报告信息
section-summary = 概要

## 列标题

column-number = 序号
column-trial = 试验
column-trials = 试验次数
column-contender = 对比对象
column-load = 负载
column-loads = 负载
column-repetition = 重复
column-throughput = 吞吐量
column-mean = 平均值
column-max = 最大值
column-errors = 错误
column-verdict = 判定
column-seconds = 时长（秒）
column-achieved = 实际吞吐量
column-achieved-per-second = 实际吞吐量，/s
column-offered = 施加负载
column-objectives = 目标
column-estimate = 当前估计
column-reason = 原因
column-factors = 因子
column-server = 服务器
column-name = 名称
column-value = 值
column-figure = 指标
column-quantile = 分位数
column-difference = 差异
column-interval = 95 % 置信区间
column-p-value = p 值
column-result = 结论
column-joint-band = 联合置信带
column-limit = 极限
column-how = 方法
column-reading = 读数
column-source = 来源
column-threshold = 阈值
column-reached = 达到阈值
column-count = 数量
column-range = 范围
column-span = 起止
column-planned = 计划
column-completed = 完成
column-band = 区间

## 图表

chart-role = 图表
chart-label = { $title }。方向键、Home 和 End 在数据点之间移动，+ 和 − 缩放，Esc 显示全部。
chart-reset = 重置缩放
chart-legend = 曲线：{ $title }
chart-table = 文字说明与数据表
chart-values = { $position }：{ $values }
axis-label = { $label }（{ $unit }）
axis-minimum = 最小
heat-requests = { $count } 个请求
unit-cores = 核
unit-users = 并发用户

## 判定与诊断

verdict-label = 判定
verdict-state-ok = OK
verdict-state-unjudged = 无法判定
verdict-state-busy-machine = 机器繁忙
verdict-state-unexplained = 原因不明
verdict-state-limited = 生成器受限
verdict-state-invalid = 无效

## 对一次运行、全部试验或部分试验的判定。

verdict-ok = { $scope ->
    [run] 本次运行中负载生成器不是瓶颈：数字反映的是服务器的性能。
   *[all] 全部 { $total } 次试验中负载生成器都不是瓶颈：数字反映的是服务器的性能。
}
verdict-unjudged = { $scope ->
    [run] 本次运行没有收到成功的响应：无法评价服务器或负载生成器。
    [all] 全部 { $total } 次试验都没有收到成功的响应：无法评价服务器或负载生成器。
   *[some] { $total } 次试验中有 { $count } 次没有收到成功的响应：无法评价服务器或负载生成器。
}
verdict-busy-machine = { $scope ->
    [run] 本次运行中其他进程占用了本机的 CPU，影响了测量结果。
    [all] 全部 { $total } 次试验中其他进程都占用了本机的 CPU，影响了测量结果。
   *[some] { $total } 次试验中有 { $count } 次，其他进程占用了本机的 CPU，影响了测量结果。
}
verdict-unexplained = { $scope ->
    [run] 本次运行中请求发送延迟，原因不明。
    [all] 全部 { $total } 次试验中请求都发送延迟，原因不明。
   *[some] { $total } 次试验中有 { $count } 次请求发送延迟，原因不明。
}
verdict-limited = { $scope ->
    [run] 本次运行中负载生成器在部分时间内是瓶颈。
    [all] 全部 { $total } 次试验中负载生成器在部分时间内是瓶颈。
   *[some] { $total } 次试验中有 { $count } 次，负载生成器在部分时间内是瓶颈。
}
verdict-invalid = { $scope ->
    [run] 本次运行的一致性检查失败：请勿使用这些数字。
    [all] 全部 { $total } 次试验的一致性检查都失败：请勿使用这些数字。
   *[some] { $total } 次试验中有 { $count } 次一致性检查失败：请勿使用这些数字。
}
verdict-cause-repeated = （另有 { $count } 次试验情况相同）
failed-check = { $name }：{ $arithmetic }
severity-warning = 警告：
severity-note = 提示：
study-interrupted = 研究在完成 { $count } 次试验后停止，计划 { $total } 次：结果不完整。

## 依据

evidence-bottleneck = 瓶颈
evidence-outliers = 异常值
evidence-readings = 所检查的读数
evidence-readings-of = { $contender }：所检查的读数
threshold-below = 低于 { $value }
threshold-at-least = 至少 { $value }
scalability-title = 通用可扩展性定律（USL）
scalability-model = X(N) = λN / (1 + σ(N − 1) + κN(N − 1)) 的参数
scalability-lambda = λ：N = 1 时的吞吐量，每秒
scalability-sigma = σ：串行部分所占比例
scalability-kappa = κ：一致性开销
scalability-peak = 吞吐量最大时的 N
scalability-of = { $contender }：可扩展性
scalability-fit = R² = { $share }。{ $caution }

## 容量

objectives-met = 达标
objectives-missed = 未达标
objectives-undecided = 未定
objectives-contested = 存疑
estimate-from = 至少 { $low }
estimate-below = 低于 { $high }
trials-of = { $contender }：各次试验

## 极限与负载

limits-caption = 各极限对照
limits-how = 各极限的确定方法
limits-how-caption = 各极限的确定方法
limit-met = 在所有负载下均满足
limit-not-met = 未满足
limit-unseen = 未观察到
limit-not-robust = 不稳健
band-note = 括号内：{ $meanings }。
band-range = 最低和最高的一次试验，主值为中位数
band-model = 由全部试验的模型得出的 95 % 置信区间
band-within-run = 一次运行内的 95 % 置信区间，按一秒的数据块计算
band-repetitions = 各次重复之间的 95 % 置信区间
curve-caption = 每个负载的全部试验

## 比较

measure-server-cpu = 每个请求的服务器 CPU 时间
measure-capacity = 容量
measure-throughput = 吞吐量
measure-goodput = 有效吞吐量
measure-mean = 平均值
measure-max = 最大值
measure-errors = 错误
comparison-better = 更好
comparison-worse = 更差
comparison-equal = 相当
comparison-undecided = 未定
comparison-interval = { $low } 至 { $high }
comparison-repetitions = 已完成 { $count } 次重复，最多 { $most } 次；每次重复是一个观测值。
comparison-title = { $theirs } 与 { $ours } 的比较
comparison-title-of-measure = { $measure }：{ $theirs } 与 { $ours } 的比较
comparison-title-at-load = { $theirs } 与 { $ours } 在负载 { $load } 下的比较
comparison-quantiles = 分位数：{ $title }
comparison-other = 其他差异

## 试验

part-label = 图表范围
part-whole = 整个运行
trial-label = 试验
trial-previous = ‹ 上一次
trial-next = 下一次 ›
trial-show = 显示随时间的变化
trials-caption = 全部试验，按执行顺序
trial-option = { $number }：{ $contender }，{ $load }，第 { $repetition } 次重复
trial-option-with-state = { $number }：{ $contender }，{ $load }，第 { $repetition } 次重复，{ $state }
trial-repetition = 第 { $repetition } 次重复
trial-start = 开始于 { $instant }
trial-run = 运行 { $id }
trial-interrupted = 提前结束
trial-failed-checks = 失败的检查
trial-readings = 读数：测量时间内的平均值
trial-readings-of = { $contender } 试验期间的读数
objective-met = { $objective }：达标
objective-missed = { $objective }：未达标
range-measured = 测量时间
range-zoomed = 缩放范围
range-caption = 该范围的数字
range-hint = 在图表上拖动即可放大。该范围的数字由其中每秒的数据求和得出。百分位由合并后的直方图得出（精度 0.8 %），包括该范围内完成或超时的请求。

## 计划与环境

plan-caption = 对比对象
plan-source = 计划原文
plan-loads-users = { $loads } 个并发用户
plan-loads-rate = { $loads } /s
plan-arrangement = 每个步骤执行 { $repetitions } 次，顺序：{ $order }；随机种子 { $seed }。
plan-arrangement-with-rest = 每个步骤执行 { $repetitions } 次，顺序：{ $order }；试验间隔 { $rest }；随机种子 { $seed }。
order-interleaved = 交错
order-blocks = 分块
order-random = 随机
environment-caption = 负载生成器所在的机器
environment-command = 命令
environment-brunt = brunt
environment-server = 服务器软件
environment-addresses = 地址
environment-kernel = 内核
environment-cpu = CPU
environment-cores = brunt 可用的核数
environment-limits = 进程限制
environment-sysctls = 内核参数
environment-route = 到服务器的路由
environment-same-host = 服务器在同一台机器上
environment-listener = 监听套接字
environment-backlog = 全连接队列
licenses-summary = 本页面包含的软件

## 仪表板

share-of-whole = { $name }：{ $count }（{ $share }）
